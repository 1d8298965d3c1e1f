//! Kubernetes quantities (`500m`, `1.5Gi`, `12e6`): exact arithmetic, comparison by value, canonical printing.
//!
//! The one implementation for everybody: validation, quota, template equality, the model of node capacity. Pure; it
//! knows nothing of the objects that quantities sit in.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde_json::Value;
use thiserror::Error;

const NANO_DIGITS: u32 = 9;
const NANOS: i128 = 1_000_000_000;
const NANOS_PER_MILLI: i128 = 1_000_000;
/// Kubernetes caps what does not fit 64 bits here instead of refusing it.
const CAP: i128 = i64::MAX as i128 * NANOS;
/// Numbers of up to this many digits keep their value however large their suffix; longer ones are capped.
const EXACT_DIGITS: usize = 18;

const BINARY: [(&str, u32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

/// Why a text is not a quantity, worded as the API server words it.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum QuantityError {
    /// The text does not have the form of a quantity.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// The letters behind the number are no unit.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// How a quantity was written, which is how it is printed.
#[derive(Clone, Copy, Debug, Default)]
enum Format {
    #[default]
    DecimalSi,
    BinarySi,
    DecimalExponent,
}

/// An amount of something, exact to a billionth. `==` and `<` compare the amount, whatever the notation: `1` equals
/// `1000m`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

impl Quantity {
    /// Nothing of it.
    pub const ZERO: Self = Self {
        nanos: 0,
        format: Format::DecimalSi,
    };

    /// Reads a quantity from JSON, where it may be a string or a bare number.
    pub fn from_json(value: &Value) -> Result<Self, QuantityError> {
        match value {
            Value::String(text) => text.parse(),
            Value::Number(number) => number.to_string().parse(),
            _ => Err(QuantityError::Format),
        }
    }

    /// Thousandths, rounded up.
    pub fn from_millis(millis: i64) -> Self {
        Self {
            nanos: i128::from(millis) * NANOS_PER_MILLI,
            format: Format::DecimalSi,
        }
    }

    /// Whether there is nothing of it.
    pub fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// Whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// Whether it is a whole number.
    pub fn is_integer(self) -> bool {
        self.nanos % NANOS == 0
    }

    /// The amount in whole units, rounded up and held to 64 bits.
    pub fn value(self) -> i64 {
        saturate(div_ceil(self.nanos, NANOS))
    }

    /// The amount in thousandths, rounded up and held to 64 bits.
    pub fn millis(self) -> i64 {
        saturate(div_ceil(self.nanos, NANOS_PER_MILLI))
    }

    /// How many times the other amount this one is.
    #[allow(
        clippy::cast_precision_loss,
        reason = "ratios are compared and shown, not counted with"
    )]
    pub fn quotient(self, other: Self) -> f64 {
        self.nanos as f64 / other.nanos as f64
    }

    /// The same amount in the notation without binary suffixes or exponents: equal amounts print alike then.
    #[must_use]
    pub fn in_decimal(self) -> Self {
        let format = Format::DecimalSi;
        Self { format, ..self }
    }

    /// The next amount up (away from zero) that needs no finer unit than a thousandth: what the API server stores in
    /// resource lists.
    #[must_use]
    pub fn round_up_to_milli(self) -> Self {
        let magnitude = div_ceil(self.nanos.abs(), NANOS_PER_MILLI) * NANOS_PER_MILLI;
        Self {
            nanos: magnitude * self.nanos.signum(),
            ..self
        }
    }
}

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// Division rounding towards positive infinity; the divisor is positive.
fn div_ceil(value: i128, divisor: i128) -> i128 {
    value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0)
}

impl From<i64> for Quantity {
    fn from(value: i64) -> Self {
        Self {
            nanos: i128::from(value) * NANOS,
            format: Format::DecimalSi,
        }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let (negative, unsigned) = match text.as_bytes()[0] {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let unit = Unit::parse(suffix)?;
        let magnitude = unit.apply(whole.trim_start_matches('0'), fraction);
        Ok(Self {
            nanos: if negative { -magnitude } else { magnitude },
            format: unit.format(),
        })
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The suffix of a quantity.
enum Unit {
    Binary { bits: u32 },
    Decimal { exponent: i32 },
    Exponent { exponent: i32 },
}

impl Unit {
    fn parse(suffix: &str) -> Result<Self, QuantityError> {
        if let Some(&(_, bits)) = BINARY.iter().find(|(name, _)| *name == suffix) {
            return Ok(Self::Binary { bits });
        }
        if let Some(&(_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
            return Ok(Self::Decimal { exponent });
        }
        let signed = suffix.trim_start_matches(|letter| "eEinumkKMGTP".contains(letter));
        let digits = signed.strip_prefix(['-', '+']).unwrap_or(signed);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(QuantityError::Format);
        }
        let exponent = suffix.strip_prefix(['e', 'E']);
        exponent
            .and_then(|exponent| exponent.parse().ok())
            .map(|exponent| Self::Exponent { exponent })
            .ok_or(QuantityError::Suffix)
    }

    fn format(&self) -> Format {
        match self {
            Self::Binary { .. } => Format::BinarySi,
            Self::Decimal { .. } => Format::DecimalSi,
            Self::Exponent { .. } => Format::DecimalExponent,
        }
    }

    /// Billionths of `whole.fraction` of this unit, rounded up.
    fn apply(&self, whole: &str, fraction: &str) -> i128 {
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        if digits.bytes().all(|digit| digit == b'0') {
            return 0;
        }
        let number: i128 = digits.parse().unwrap_or(i128::MAX);
        let fraction_digits = i32::try_from(fraction.len()).unwrap_or(i32::MAX);
        let (factor, exponent) = match *self {
            Self::Binary { bits } => (1_i128 << bits, 0),
            Self::Decimal { exponent } | Self::Exponent { exponent } => (1, exponent),
        };
        let exponent = exponent
            .saturating_sub(fraction_digits)
            .saturating_add(NANO_DIGITS.cast_signed());
        let scaled = number
            .checked_mul(factor)
            .and_then(|number| scale(number, exponent));
        match scaled {
            Some(nanos) if digits.len() <= EXACT_DIGITS => nanos,
            Some(nanos) => nanos.min(CAP),
            None => CAP,
        }
    }
}

/// `number × 10^exponent` rounded up, if it fits.
fn scale(number: i128, exponent: i32) -> Option<i128> {
    let power = 10_i128.checked_pow(exponent.unsigned_abs());
    if exponent >= 0 {
        number.checked_mul(power?)
    } else {
        Some(power.map_or(1, |power| div_ceil(number, power)))
    }
}

impl fmt::Display for Quantity {
    /// The canonical form: the largest unit that needs no fraction, in the notation the quantity was written in.
    /// Binary units fall back to decimal ones for fractions and for amounts below 1024.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        let binary = matches!(self.format, Format::BinarySi)
            && self.is_integer()
            && self.nanos.abs() >= 1024 * NANOS;
        if binary {
            return self.fmt_binary(f);
        }
        let mut number = self.nanos;
        let mut exponent = -NANO_DIGITS.cast_signed();
        while number % 1000 == 0 && (exponent < 18 || self.is_exponent()) {
            number /= 1000;
            exponent += 3;
        }
        if self.is_exponent() && exponent != 0 {
            return write!(f, "{number}e{exponent}");
        }
        let suffix = DECIMAL.iter().find(|(_, power)| *power == exponent);
        write!(f, "{number}{}", suffix.map_or("", |(suffix, _)| suffix))
    }
}

impl Quantity {
    fn is_exponent(&self) -> bool {
        matches!(self.format, Format::DecimalExponent)
    }

    fn fmt_binary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut number = self.nanos / NANOS;
        let mut suffix = "";
        for (name, _) in BINARY {
            if number % 1024 != 0 {
                break;
            }
            number /= 1024;
            suffix = name;
        }
        write!(f, "{number}{suffix}")
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Add for Quantity {
    type Output = Self;

    /// Keeps the notation of the left side, unless that is zero.
    fn add(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            format: if self.is_zero() {
                other.format
            } else {
                self.format
            },
        }
    }
}

impl AddAssign for Quantity {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Quantity {
    type Output = Self;

    /// Keeps the notation of the left side, unless that is zero.
    fn sub(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_sub(other.nanos),
            ..self.add(other)
        }
    }
}

impl Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(quantities: I) -> Self {
        quantities.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        text.parse::<Quantity>()
            .map_or_else(|error| error.to_string(), |quantity| quantity.to_string())
    }

    #[test]
    fn prints_the_canonical_form() {
        for (text, expected) in [
            ("0", "0"),
            ("0.0", "0"),
            ("-0", "0"),
            ("1", "1"),
            ("+1", "1"),
            ("007", "7"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("0.5", "500m"),
            (".5", "500m"),
            ("1.", "1"),
            ("100m", "100m"),
            ("1000", "1k"),
            ("1k", "1k"),
            ("1024", "1024"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000Mi", "1000Mi"),
            ("0.5Ki", "512"),
            ("1.0001Ki", "1024102400u"),
            ("1e3", "1e3"),
            ("100e1", "1e3"),
            ("12E-1", "1200e-3"),
            ("5e0", "5"),
            ("1E", "1E"),
            ("1000E", "1000E"),
            ("0.1n", "1n"),
            ("-1500m", "-1500m"),
            ("-0.1n", "-1n"),
            ("9223372036854775807", "9223372036854775807"),
            ("99999999999999999999", "9223372036854775807"),
            ("1e999999999", "9223372036854775807"),
            ("1e-999999999", "1e-9"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_quantity() {
        let format = QuantityError::Format.to_string();
        let suffix = QuantityError::Suffix.to_string();
        for (text, expected) in [
            ("", &format),
            ("lots", &format),
            ("1 Gi", &format),
            ("1.2.3", &format),
            ("0x10", &format),
            ("é", &format),
            ("1ii", &suffix),
            ("1K", &suffix),
            ("1mi", &suffix),
            ("1m3", &suffix),
            ("1e", &suffix),
        ] {
            assert_eq!(&canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn compares_and_adds_by_value() {
        let quantity = |text: &str| text.parse::<Quantity>().unwrap();
        assert_eq!(quantity("1"), quantity("1000m"));
        assert!(quantity("1Gi") > quantity("1G"));
        assert_eq!((quantity("600m") + quantity("300m")).to_string(), "900m");
        assert_eq!((quantity("0") + quantity("1Gi")).to_string(), "1Gi");
        assert_eq!((quantity("1Gi") - quantity("512Mi")).to_string(), "512Mi");
        assert_eq!(quantity("1u").round_up_to_milli().to_string(), "1m");
        assert_eq!(quantity("-1u").round_up_to_milli().to_string(), "-1m");
        assert_eq!(
            (quantity("1500m").value(), quantity("1500m").millis()),
            (2, 1500)
        );
        assert_eq!(
            Quantity::from_json(&serde_json::json!(0.5)),
            Ok(quantity("500m"))
        );
    }
}
