//! Multi-precision functions, for the coefficients of the vector mathematics and for its tests.
//! Elementary functions come from `astro_float`; the others are computed from series, with guard
//! digits.
#![allow(dead_code)] // not every user needs all of it

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use astro_float::{BigFloat, Consts, RoundingMode, Sign};

/// Precision in bits. Functions with cancellation use more.
const BITS: usize = 256;
const NEAREST: RoundingMode = RoundingMode::ToEven;

thread_local! {
    static CONSTANTS: RefCell<Consts> = RefCell::new(Consts::new().expect("memory for constants"));
}

/// A number of at least [`BITS`] bits.
#[derive(Clone, Debug)]
pub struct Precise(BigFloat, usize);

fn elementary(f: impl FnOnce(&mut Consts) -> BigFloat) -> BigFloat {
    CONSTANTS.with_borrow_mut(f)
}

macro_rules! operator {
    ($trait:ident, $name:ident) => {
        impl $trait<&Precise> for &Precise {
            type Output = Precise;
            fn $name(self, other: &Precise) -> Precise {
                let bits = self.1.max(other.1);
                Precise(self.0.$name(&other.0, bits, NEAREST), bits)
            }
        }
        impl $trait<Precise> for Precise {
            type Output = Precise;
            fn $name(self, other: Precise) -> Precise {
                $trait::$name(&self, &other)
            }
        }
        impl $trait<f64> for Precise {
            type Output = Precise;
            fn $name(self, other: f64) -> Precise {
                $trait::$name(&self, &Precise::new(other))
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Neg for Precise {
    type Output = Precise;
    fn neg(self) -> Precise {
        Precise(BigFloat::neg(&self.0), self.1)
    }
}

macro_rules! function {
    ($($name:ident),*) => {
        $(pub fn $name(&self) -> Precise {
            Precise(elementary(|constants| self.0.$name(self.1, NEAREST, constants)), self.1)
        })*
    };
}

impl Precise {
    pub fn new(value: f64) -> Precise {
        if value.is_subnormal() {
            // `from_f64` is wrong for subnormal numbers.
            let power = |exponent| BigFloat::from_f64(2f64.powi(exponent), BITS);
            let large = BigFloat::from_f64(value * 2f64.powi(200), BITS);
            return Precise(large.mul(&power(-200), BITS, NEAREST), BITS);
        }
        Precise(BigFloat::from_f64(value, BITS), BITS)
    }

    pub fn pi() -> Precise {
        Precise(elementary(|constants| constants.pi(BITS + 64, NEAREST)), BITS)
    }

    /// The number extended to more bits.
    fn extended(&self, bits: usize) -> Precise {
        let zero = BigFloat::from_f64(0.0, bits);
        Precise(self.0.add(&zero, bits, NEAREST), bits)
    }

    function!(exp, ln, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh);

    pub fn sqrt(&self) -> Precise {
        Precise(self.0.sqrt(self.1, NEAREST), self.1)
    }

    pub fn abs(&self) -> Precise {
        Precise(self.0.abs(), self.1)
    }

    pub fn is_negative(&self) -> bool {
        self.0.is_negative() && !self.0.is_zero()
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    pub fn less(&self, other: f64) -> bool {
        (self.clone() - other).is_negative()
    }

    /// The nearest double, or an infinity beyond the range. Rounds subnormal results twice.
    pub fn to_f64(&self) -> f64 {
        let Some((words, _, sign, exponent, _)) = self.0.as_raw_parts() else {
            return if self.0.is_nan() {
                f64::NAN
            } else if self.0.is_inf_pos() {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            };
        };
        if self.0.is_zero() {
            return 0.0;
        }
        let top = *words.last().expect("a number has words");
        // The lower words only break ties.
        let rest = words[..words.len() - 1].iter().any(|word| *word != 0);
        let value = scale((top | u64::from(rest)) as f64, exponent - 64);
        if sign == Sign::Neg { -value } else { value }
    }

    pub fn log1p(&self) -> Precise {
        if self.abs().less(1e-30) {
            let x = self;
            let cube = x * &(x * x);
            return x.clone() - x * &(x.clone() * 0.5) + cube / Precise::new(3.0);
        }
        (self.clone() + 1.0).ln()
    }

    pub fn expm1(&self) -> Precise {
        if self.abs().less(1e-30) {
            let x = self;
            let cube = x * &(x * x);
            return x.clone() + x * &(x.clone() * 0.5) + cube / Precise::new(6.0);
        }
        self.exp() - 1.0
    }

    /// 2/√π Σ (-1)ᵏ x²ᵏ⁺¹ / k! (2k + 1). Terms grow to e^x² before they shrink, so the precision is
    /// increased accordingly.
    pub fn erf(&self) -> Precise {
        let size = self.to_f64().abs();
        if size < 1e-40 {
            return self.clone() * 2.0 / Precise::pi().sqrt();
        }
        let x = self.extended(BITS + (3.0 * size * size) as usize);
        let square = -(&x * &x);
        let (mut power, mut sum, mut k) = (x.clone(), x.clone(), 0.0);
        let least = scale(size, -(x.1 as i32));
        while power.abs().0.cmp(&BigFloat::from_f64(least, 64)).is_some_and(|order| order > 0) {
            k += 1.0;
            power = &power * &square / Precise::new(k);
            sum = sum + power.clone() / Precise::new(2.0 * k + 1.0);
        }
        let root = Precise::pi().extended(BITS).sqrt();
        Precise((sum * 2.0 / root).0, BITS)
    }

    /// By the continued fraction where it converges fast, else from erf, with guard digits for the
    /// cancellation.
    pub fn erfc(&self) -> Precise {
        if self.less(5.0) {
            return Precise::new(1.0) - self.erf();
        }
        (-(self * self)).exp() * self.erfcx_fraction()
    }

    /// e^x² erfc x, for positive x.
    pub fn erfcx(&self) -> Precise {
        if self.less(5.0) {
            return self.erfc() * (self * self).exp();
        }
        self.erfcx_fraction()
    }

    /// 1/√π · 1/(x + ½/(x + 1/(x + 3/2/(x + …))))
    fn erfcx_fraction(&self) -> Precise {
        let mut tail = self.clone();
        for k in (1..1500).rev() {
            tail = self + &(Precise::new(f64::from(k) / 2.0) / tail);
        }
        Precise::new(1.0) / (Precise::pi().sqrt() * tail)
    }

    /// log Γ for a positive number: Stirling's series after a shift to 64.
    pub fn lgamma_positive(&self) -> Precise {
        let (mut y, mut product) = (self.clone(), Precise::new(1.0));
        while y.less(64.0) {
            product = product * y.clone();
            y = y + 1.0;
        }
        let (square, mut power) = (&y * &y, y.clone());
        let mut sum = (y.clone() - 0.5) * y.ln() - y.clone();
        sum = sum + (Precise::pi() * 2.0).ln() * 0.5;
        for (k, (above, below)) in BERNOULLI.iter().enumerate() {
            let two_k = 2.0 * (k as f64 + 1.0);
            let term = Precise::new(*above) / Precise::new(*below * two_k * (two_k - 1.0));
            sum = sum + term / power.clone();
            power = power * square.clone();
        }
        sum - product.ln()
    }

    /// log |Γ x|, also by reflection.
    pub fn lgamma(&self) -> Precise {
        if self.is_negative() {
            let sine = (Precise::pi() * self.fraction()).sin().abs();
            let y = Precise::new(1.0) - self.clone();
            return (Precise::pi() / sine).ln() - y.lgamma_positive();
        }
        self.lgamma_positive()
    }

    pub fn digamma(&self) -> Precise {
        if self.is_negative() {
            let angle = Precise::pi() * self.fraction();
            let y = Precise::new(1.0) - self.clone();
            return y.digamma() - Precise::pi() * angle.cos() / angle.sin();
        }
        // 1/x + 1/(x + 1) + …, as a single fraction.
        let (mut y, mut above, mut below) = (self.clone(), Precise::new(0.0), Precise::new(1.0));
        while y.less(64.0) {
            above = &above * &y + below.clone();
            below = &below * &y;
            y = y + 1.0;
        }
        let square = &y * &y;
        let (mut power, mut sum) = (square.clone(), y.ln() - Precise::new(0.5) / y);
        for (k, (above, below)) in BERNOULLI.iter().enumerate() {
            let term = Precise::new(*above) / Precise::new(*below * 2.0 * (k as f64 + 1.0));
            sum = sum - term / power.clone();
            power = power * square.clone();
        }
        sum - above / below
    }

    /// The distance to the nearest integer, with sign.
    fn fraction(&self) -> Precise {
        let whole = (self.clone() + 0.5).0.floor();
        Precise(self.0.sub(&whole, self.1 + 64, NEAREST), self.1)
    }
}

/// x · 2ⁿ
fn scale(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// B₂ₖ from k = 1.
const BERNOULLI: [(f64, f64); 16] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174611.0, 330.0),
    (854513.0, 138.0),
    (-236364091.0, 2730.0),
    (8553103.0, 6.0),
    (-23749461029.0, 870.0),
    (8615841276005.0, 14322.0),
    (-7709321041217.0, 510.0),
];
