//! The one place where the processor's wider registers are chosen.

/// A numeric loop worth compiling more than once.
///
/// `run` and everything hot that it calls is `#[inline(always)]`, so that it is compiled anew, with
/// wider registers, inside [`vectorised`].
pub trait Kernel {
    /// Runs the loop.
    fn run(self);
}

/// Runs a kernel with AVX2 where the processor has it.
///
/// Only multiplications and additions in the written order: a wider register computes more lanes at
/// once and never another result, so the same loop computes the same on every machine.
#[inline]
pub fn vectorised<K: Kernel>(kernel: K) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn with_avx2<K: Kernel>(kernel: K) {
            kernel.run();
        }
        // SAFETY: the processor has AVX2, asked in the line above; the function itself is safe code.
        #[expect(unsafe_code, reason = "2 to 3 times the rows a second, `cargo bench -p par-circuit`")]
        return unsafe { with_avx2(kernel) };
    }
    kernel.run();
}
