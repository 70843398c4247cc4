//! Operands: special values, and bits that look random but are the same everywhere.

/// Bits of exponent and fraction of a format of floats.
#[derive(Clone, Copy)]
pub struct Format {
    exponent: u32,
    fraction: u32,
}

impl Format {
    /// Of `tf32` those of a single, in whose place it lies.
    pub fn named(name: &str) -> Option<Self> {
        let (exponent, fraction) = match name {
            "f16" => (5, 10),
            "bf16" => (8, 7),
            "f32" | "tf32" => (8, 23),
            "f64" => (11, 52),
            "e4m3" => (4, 3),
            "e5m2" => (5, 2),
            _ => return None,
        };
        Some(Self { exponent, fraction })
    }

    pub fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Zero, ones, infinity, NaNs, the ends of the ranges of subnormal and normal numbers, and neighbours of one.
    fn special(self) -> [u64; 20] {
        let place = 1 << self.fraction;
        let one = (self.bias() as u64) << self.fraction;
        let infinity = ((1 << self.exponent) - 1) << self.fraction;
        let half = place / 2;
        [
            0,
            one,
            one + half,
            one + place,
            infinity,
            infinity + half,
            infinity + 1,
            infinity + place - 1,
            infinity + half + 5 % place,
            1,
            place - 1,
            place,
            infinity - 1,
            one - 1,
            one + 1,
            one - place,
            2,
            place + 1,
            one + half + place,
            half,
        ]
    }
}

fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

/// `count` numbers that follow from a name (FNV-1a, then SplitMix64).
pub fn hashes(name: &str, count: usize, salt: u64) -> impl Iterator<Item = u64> + use<> {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let base = hash.wrapping_add(salt.wrapping_mul(0xD1B5_4A32_D192_ED03));
    (0..count as u64)
        .map(move |at| mixed(base.wrapping_add(at.wrapping_mul(0x9E37_79B9_7F4A_7C15))))
}

fn pairs(name: &str, count: usize) -> impl Iterator<Item = (u64, u64)> + use<> {
    hashes(name, count, 1).zip(hashes(name, count, 2))
}

const INTEGERS: [i64; 34] = [
    0,
    1,
    2,
    3,
    -1,
    -2,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0x1_0000_0000,
    i64::MAX,
    i64::MIN,
    31,
    32,
    33,
    63,
    64,
    65,
    16,
    -0x80,
    -0x8000,
    -0x8000_0000,
];

/// Extremes, small numbers as shifts have them, powers of two, and random bits.
pub fn integers(name: &str, count: usize, bits: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let one = |(how, random): (u64, u64)| {
        let few = how >> 8 & 63;
        let value = match how >> 61 {
            0 | 1 => INTEGERS[(how >> 8) as usize % INTEGERS.len()] as u64,
            2 => few,
            3 => 1 << (few & u64::from(bits - 1)),
            4 => few.wrapping_neg(),
            _ => random,
        };
        value & mask
    };
    pairs(name, count).map(one).collect()
}

/// Special values, random bits, subnormal numbers, numbers near one with many and with few bits, numbers about the last place, and both narrow and
/// wide ranges.
pub fn floats(name: &str, count: usize, format: Format) -> Vec<u64> {
    let fraction = format.fraction;
    let few_bits = ((1 << fraction) - 1) & !((1u64 << fraction.saturating_sub(4)) - 1);
    let (bias, top) = (format.bias(), (1 << format.exponent) - 2);
    let one = |(how, random): (u64, u64)| {
        let sign = (how >> 60 & 1) << (format.exponent + fraction);
        let all = random & ((1 << fraction) - 1);
        let few = all & few_bits;
        let at = (how >> 8 & 0xffff) as i64;
        let build =
            |exponent: i64, bits: u64| sign | (exponent.clamp(0, top) as u64) << fraction | bits;
        match how >> 61 {
            0 => sign | format.special()[at as usize % 20],
            1 => random & (u64::MAX >> (64 - format.bits())),
            2 => build(i64::from(at % 8 == 7), all),
            3 => build(bias - 2 + at % 5, all),
            4 => build(bias - 3 + at % 7, few),
            5 => build(bias + i64::from(fraction) - 3 + at % 6, all),
            6 => build(
                bias - 26 + (at >> 1) % 45,
                if at & 1 == 1 { few } else { all },
            ),
            _ => build(bias - 16 + (at >> 1) % 97, all),
        }
    };
    pairs(name, count).map(one).collect()
}

/// What the numbers of a matrix are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Small whole numbers, whose sums are exact.
    Exact,
    /// Near one.
    Near,
    /// Powers of two far apart.
    Powers,
    /// Far apart.
    Wide,
    /// As `Wide`, but most are zero.
    Few,
    /// As `Near`, but every eighth is special.
    Special,
    /// As `Near`; of TF32 also the bits that it has not.
    Raw,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Near => "near",
            Self::Powers => "pow",
            Self::Wide => "wide",
            Self::Few => "few",
            Self::Special => "special",
            Self::Raw => "raw",
        }
    }
}

/// Bits that an element takes in memory; those of fewer than eight share bytes.
pub fn stored_bits(element: &str) -> u32 {
    match element {
        "f64" => 64,
        "f16" | "bf16" => 16,
        "tf32" | "f32" | "s32" => 32,
        _ => 8,
    }
}

/// Elements of a matrix.
pub fn factors(name: &str, count: usize, element: &str, class: Class) -> Vec<u64> {
    let numbers = pairs(&format!("{name}{}", class.name()), count);
    match Format::named(element) {
        None => numbers.map(|pair| whole(pair, element, class)).collect(),
        Some(format) => numbers
            .map(|pair| factor(pair, element, format, class))
            .collect(),
    }
}

fn whole((how, random): (u64, u64), element: &str, class: Class) -> u64 {
    match (element, class) {
        ("s32", Class::Wide) if how & 1 == 1 => 0x7fff_ffff - (random & 0xffff),
        ("s32", Class::Wide) => 0x8000_0000 + (random & 0xffff),
        ("s32", _) => random & 0xffff_ffff,
        _ => random & 0xff,
    }
}

fn factor((how, random): (u64, u64), element: &str, format: Format, class: Class) -> u64 {
    let fraction = format.fraction;
    let bias = format.bias();
    let top = (1 << format.exponent) - if element == "e4m3" { 1 } else { 2 };
    let at = (how >> 8 & 0xffff) as i64;
    let sign = (how >> 60 & 1) << (format.exponent + fraction);
    let all = random & ((1 << fraction) - 1);
    let bits = if element == "tf32" {
        all & !0x1fff
    } else {
        all
    };
    let build =
        |exponent: i64, bits: u64| sign | (exponent.clamp(0, top) as u64) << fraction | bits;
    let span = match element {
        "f16" => 24,
        "bf16" | "tf32" => 40,
        "f32" => 80,
        "f64" => 120,
        "e4m3" => 15,
        _ => 30,
    };
    let far = bias - span / 2 + (at >> 2) % (span + 1);
    match class {
        Class::Exact => {
            let one = bias << fraction;
            let half = 1 << (fraction - 1);
            let two = (bias + 1) << fraction;
            let table = [
                0,
                one,
                one + half,
                two,
                two + half,
                0,
                (bias - 1) << fraction,
                (bias + 2) << fraction,
            ];
            sign | table[at as usize % 8] as u64
        }
        Class::Near => build(bias - 2 + at % 5, bits),
        Class::Raw => build(bias - 2 + at % 5, all),
        Class::Powers => build(far, 0),
        Class::Wide => build(far, bits),
        Class::Few if at & 3 != 0 => 0,
        Class::Few => build(far, bits),
        Class::Special if at & 7 == 0 => sign | format.special()[(at >> 4) as usize % 20],
        Class::Special => build(bias - 2 + (at >> 4) % 5, bits),
    }
}
