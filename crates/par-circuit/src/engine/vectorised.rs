//! Kernels compiled for wider registers where the processor has them.

/// A numeric loop worth compiling more than once.
///
/// `run` and all hot functions that it calls are `#[inline(always)]`, so that [`vectorised`] compiles them
/// again for AVX2.
pub trait Kernel {
    /// Runs the loop.
    fn run(self);
}

/// Runs a kernel with AVX2 where the processor has it.
///
/// Kernels use only multiplications and additions in the written order: a wider register computes more lanes
/// at once and the same results, so that every machine computes the same.
#[inline]
pub fn vectorised<K: Kernel>(kernel: K) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn with_avx2<K: Kernel>(kernel: K) {
            kernel.run();
        }
        // SAFETY: AVX2 was detected in the line above; the function itself is safe code.
        #[expect(unsafe_code, reason = "2 to 3 times the rows a second, `cargo bench -p par-circuit`")]
        return unsafe { with_avx2(kernel) };
    }
    kernel.run();
}
