//! Functions on four reals: those of `lambada_prim`'s vector mathematics that programs call most, by the same formulas and with the same errors.

use std::arch::x86_64::{
    __m256d, __m256i, _CMP_EQ_OQ, _CMP_LT_OQ, _CMP_NLT_UQ, _mm256_add_epi64, _mm256_add_pd,
    _mm256_and_pd, _mm256_blendv_pd, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_cmp_pd,
    _mm256_div_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_loadu_pd, _mm256_max_pd,
    _mm256_min_pd, _mm256_mul_pd, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_slli_epi64,
    _mm256_storeu_pd, _mm256_sub_epi64, _mm256_sub_pd,
};

/// 1.5 · 2⁵²: a sum with it is rounded to an integer, in its low bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// The logarithm of 2 in two parts, of which the first one has few digits.
const LOG2: (f64, f64) = (0.6931471805598903, 5.497923018708371e-14);

/// A function on the lanes of an argument, for generated code.
macro_rules! helper {
    ($(#[$doc:meta])* $name:ident, $on:ident) => {
        $(#[$doc])*
        #[allow(unsafe_code)]
        pub(crate) unsafe extern "sysv64" fn $name(words: *mut u64, _: u32) {
            // SAFETY: generated code has called, which has four words there, and only runs where these instructions are.
            unsafe {
                let x = _mm256_loadu_pd(words.cast());
                _mm256_storeu_pd(words.cast(), $on(x));
            }
        }
    };
}

helper! {
    /// e to the x.
    exp, exp_of
}
helper! {
    /// The natural logarithm.
    log, log_of
}

#[target_feature(enable = "avx2,fma")]
fn all(x: f64) -> __m256d {
    _mm256_set1_pd(x)
}

#[target_feature(enable = "avx2,fma")]
fn word(x: i64) -> __m256i {
    _mm256_set1_epi64x(x)
}

/// The polynomial with these coefficients, that of the highest power first.
#[target_feature(enable = "avx2,fma")]
fn polynomial<const N: usize>(x: __m256d, coefficients: [f64; N]) -> __m256d {
    let mut sum = all(coefficients[0]);
    for c in &coefficients[1..] {
        sum = _mm256_fmadd_pd(sum, x, all(*c));
    }
    sum
}

#[target_feature(enable = "avx2,fma")]
fn exp_of(x: __m256d) -> __m256d {
    // The second operand stays where it is NaN.
    let x = _mm256_max_pd(all(-746.0), _mm256_min_pd(all(710.0), x));
    let shifted = _mm256_fmadd_pd(x, all(std::f64::consts::LOG2_E), all(MAGIC));
    let n = _mm256_sub_pd(shifted, all(MAGIC));
    let r = _mm256_fnmadd_pd(n, all(LOG2.1), _mm256_fnmadd_pd(n, all(LOG2.0), x));
    let tail = polynomial(
        r,
        [
            2.5100383205533054e-8,
            2.762008546758513e-7,
            2.7557268464811307e-6,
            2.4801521302214664e-5,
            0.0001984126986305052,
            0.0013888888917209688,
            0.008333333333330063,
            0.041666666666624136,
            0.16666666666666669,
            0.5000000000000001,
        ],
    );
    let power = _mm256_add_pd(all(1.0), _mm256_fmadd_pd(_mm256_mul_pd(r, r), tail, r));
    scaled(power, n)
}

/// x · 2ⁿ for whole n up to 1200, rounded once: 2ⁿ in two factors, the product of which may overflow, or be subnormal.
#[target_feature(enable = "avx2,fma")]
fn scaled(x: __m256d, n: __m256d) -> __m256d {
    let half = _mm256_fmadd_pd(n, all(0.5), all(MAGIC));
    let other = _mm256_add_pd(_mm256_sub_pd(n, _mm256_sub_pd(half, all(MAGIC))), all(MAGIC));
    let one = word(1.0f64.to_bits().cast_signed());
    let power = |of: __m256d| {
        let bits = _mm256_slli_epi64::<52>(_mm256_castpd_si256(of));
        _mm256_castsi256_pd(_mm256_add_epi64(bits, one))
    };
    _mm256_mul_pd(_mm256_mul_pd(x, power(half)), power(other))
}

#[target_feature(enable = "avx2,fma")]
fn log_of(x: __m256d) -> __m256d {
    let (e, f) = log_split(x);
    let s = _mm256_div_pd(f, _mm256_add_pd(f, all(2.0)));
    let z = _mm256_mul_pd(s, s);
    let p = polynomial(
        z,
        [
            0.14616484199276786,
            0.15331718809192105,
            0.1818288920919632,
            0.22222211133643974,
            0.28571428625982526,
            0.3999999999989949,
            0.666666666666667,
        ],
    );
    let half = _mm256_mul_pd(_mm256_mul_pd(all(0.5), f), f);
    let tail = _mm256_fmadd_pd(s, _mm256_fmadd_pd(z, p, half), _mm256_mul_pd(e, all(LOG2.1)));
    let rest = _mm256_sub_pd(_mm256_sub_pd(half, tail), f);
    let y = _mm256_fmadd_pd(e, all(LOG2.0), _mm256_sub_pd(all(0.0), rest));
    // Where that is no finite number: infinity and NaN, zeros, and what is negative.
    let large = _mm256_cmp_pd::<_CMP_NLT_UQ>(x, all(f64::INFINITY));
    let zero = _mm256_cmp_pd::<_CMP_EQ_OQ>(x, all(0.0));
    let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, all(0.0));
    let y = _mm256_blendv_pd(y, x, large);
    let y = _mm256_blendv_pd(y, all(f64::NEG_INFINITY), zero);
    _mm256_blendv_pd(y, all(f64::NAN), negative)
}

/// x = 2^e (1 + f) with 1 + f between the roots of 1/2 and 2, for a positive x that is finite, subnormal numbers included.
#[target_feature(enable = "avx2,fma")]
fn log_split(x: __m256d) -> (__m256d, __m256d) {
    let small = _mm256_cmp_pd::<_CMP_LT_OQ>(x, all(f64::MIN_POSITIVE));
    // 2⁵⁴ times as large.
    let x = _mm256_blendv_pd(x, _mm256_mul_pd(x, all(18_014_398_509_481_984.0)), small);
    let bits = _mm256_castpd_si256(x);
    let above = _mm256_sub_epi64(bits, word(0x3fe6_a09e_667f_3bcd));
    // The exponent, which may be negative: with a bias that is large, and the bits of 2⁵² + 2⁵¹.
    let biased = _mm256_add_epi64(above, word(1024 << 52));
    let shifted = _mm256_castpd_si256(shifted_right(biased));
    let e = _mm256_sub_pd(
        _mm256_castsi256_pd(_mm256_add_epi64(shifted, word(0x4338_0000_0000_0000 - 1024))),
        all(MAGIC),
    );
    let e = _mm256_sub_pd(e, _mm256_and_pd(small, all(54.0)));
    let whole = _mm256_castsi256_pd(above);
    let exponent = _mm256_and_pd(whole, _mm256_castsi256_pd(word(-0x0010_0000_0000_0000)));
    let fraction = _mm256_sub_epi64(bits, _mm256_castpd_si256(exponent));
    (e, _mm256_sub_pd(_mm256_castsi256_pd(fraction), all(1.0)))
}

/// The upper twelve bits of each word, as a number.
#[target_feature(enable = "avx2,fma")]
fn shifted_right(x: __m256i) -> __m256d {
    _mm256_castsi256_pd(std::arch::x86_64::_mm256_srli_epi64::<52>(x))
}
