//! Processor time, which other load lengthens less.

/// Seconds of processor time of this thread; `None` where the system does not tell.
pub(super) fn thread() -> Option<f64> {
    #[cfg(unix)]
    return read(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    #[cfg(not(unix))]
    None
}

/// Seconds of processor time of all threads; `None` where the system does not tell.
pub(super) fn process() -> Option<f64> {
    #[cfg(unix)]
    return read(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID);
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
fn read(clock: nix::time::ClockId) -> Option<f64> {
    let time = nix::time::clock_gettime(clock).ok()?;
    Some(std::time::Duration::from(time).as_secs_f64())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_takes_no_processor_time() {
        let started = thread().expect("a clock");
        std::thread::sleep(std::time::Duration::from_millis(50));
        let slept = thread().expect("a clock") - started;
        assert!((0.0..0.04).contains(&slept), "{slept}");
        assert!(process().expect("a clock") >= started);
    }
}
