//! An instruction of a warp as a line of text.

use std::str::SplitAsciiWhitespace;

use crate::fault::{Fault, quoted};
use crate::header::{Header, address};
use crate::registers::Name;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// Registers that a line names on a side, at the most.
const MOST_NAMES: usize = 8;

/// How addresses are written: one a lane, a distance that all lanes share, or the distance of each lane from the one before.
const ALL: u64 = 0;
const STRIDE: u64 = 1;
const DELTAS: u64 = 2;

/// An instruction of a warp.
#[derive(Clone, Debug)]
pub(crate) struct Line<'t> {
    /// Where it stands in its function, in bytes.
    pub pc: u32,
    /// Lanes that execute it.
    pub executed: u32,
    /// Its name with all modifiers.
    pub opcode: &'t str,
    pub destinations: Names,
    pub sources: Names,
    /// Addresses of the executing lanes, if it accesses memory and some do.
    pub addresses: Option<[u64; LANES]>,
    /// Whether it accesses memory whose addresses the tracer writes down.
    pub accesses: bool,
    /// What stands behind: immediates and values.
    rest: SplitAsciiWhitespace<'t>,
}

/// Registers on a side of an instruction, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    names: [Name; MOST_NAMES],
    count: usize,
}

impl std::ops::Deref for Names {
    type Target = [Name];

    fn deref(&self) -> &[Name] {
        &self.names[..self.count]
    }
}

/// The words of a line.
struct Words<'t>(SplitAsciiWhitespace<'t>);

impl<'t> Words<'t> {
    fn word(&mut self, what: &str) -> Result<&'t str, Fault> {
        let word = self.0.next();
        word.ok_or_else(|| Fault::new(format!("it ends before {what}")))
    }

    fn decimal(&mut self, what: &str) -> Result<u64, Fault> {
        let word = self.word(what)?;
        let wrong = |_| Fault::new(format!("{} is no number for {what}", quoted(word)));
        word.parse().map_err(wrong)
    }

    fn distance(&mut self, what: &str) -> Result<i64, Fault> {
        let word = self.word(what)?;
        let wrong = |_| Fault::new(format!("{} is no number for {what}", quoted(word)));
        word.parse().map_err(wrong)
    }

    fn hexadecimal(&mut self, what: &str) -> Result<u64, Fault> {
        let word = self.word(what)?;
        let wrong = || {
            let message = format!("{} is no hexadecimal number for {what}", quoted(word));
            Fault::new(message)
        };
        address(word).ok_or_else(wrong)
    }

    fn of_32_bits(&mut self, what: &str) -> Result<u32, Fault> {
        let number = self.hexadecimal(what)?;
        u32::try_from(number).map_err(|_| Fault::new(format!("{what} has more than 32 bits")))
    }

    fn names(&mut self, what: &str) -> Result<Names, Fault> {
        let count = self.decimal(what)? as usize;
        if count > MOST_NAMES {
            return Err(Fault::new(format!(
                "{what} is {count}; {MOST_NAMES} are the most"
            )));
        }
        let mut names = Names {
            count,
            ..Names::default()
        };
        for name in &mut names.names[..count] {
            let word = self.word("its registers")?;
            let wrong = || Fault::new(format!("{} is no register", quoted(word)));
            *name = Name::parse(word).ok_or_else(wrong)?;
        }
        Ok(names)
    }
}

impl<'t> Line<'t> {
    /// Reads a line as a tracer of the header's version writes it.
    pub fn parse(text: &'t str, header: &Header) -> Result<Self, Fault> {
        let mut words = Words(text.split_ascii_whitespace());
        if header.version < 3 {
            // Thread block and warp stood in each line.
            for _ in 0..4 {
                words.decimal("thread block and warp")?;
            }
        }
        if header.has_lines {
            words.decimal("the line of the source")?;
        }
        let pc = words.of_32_bits("the program counter")?;
        let executed = words.of_32_bits("the mask")?;
        let destinations = words.names("the number of destinations")?;
        let opcode = words.word("the opcode")?;
        let sources = words.names("the number of sources")?;
        if moves_on_its_own(opcode) {
            let message = format!(
                "{} is an instruction of Hopper's asynchronous units, which are not read from traces",
                quoted(opcode)
            );
            return Err(Fault::new(message).help(
                "execute the PTX of such a kernel instead: `warpwatt kernel my.toml --ptx my.ptx --preset h100`",
            ));
        }
        let width = words.decimal("the bytes of an access")?;
        let addresses = match width {
            0 => None,
            _ => addresses(&mut words, executed)?,
        };
        Ok(Self {
            pc,
            executed,
            opcode,
            destinations,
            sources,
            addresses,
            accesses: width > 0,
            rest: words.0,
        })
    }

    /// The two immediates behind the addresses; 0 where there is none.
    pub fn immediates(&self) -> [u64; 2] {
        let mut rest = self.rest.clone();
        let mut next = || rest.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        [next(), next()]
    }

    /// The value of the first destination in the first lane, if the tracer wrote down values.
    pub fn first_value(&self) -> Option<u64> {
        let mut rest = self.rest.clone().skip_while(|word| *word != "Val");
        rest.next()?;
        // How many values are told, then these.
        rest.next()?;
        address(rest.next()?)
    }
}

/// Whether an instruction moves tiles, multiplies them, or waits for that, beside the warps (Hopper and later). The tracer's version 6 writes more of them
/// down than addresses.
fn moves_on_its_own(opcode: &str) -> bool {
    let name = opcode.split('.').next().unwrap_or(opcode);
    name.starts_with("UTMA")
        || name.starts_with("UBLK")
        || name.ends_with("GMMA")
        || matches!(name, "SYNCS" | "WARPGROUP" | "REPLAY_START" | "REPLAY_END")
}

fn addresses(words: &mut Words<'_>, executed: u32) -> Result<Option<[u64; LANES]>, Fault> {
    let how = words.decimal("how addresses are written")?;
    if how > DELTAS {
        return Err(Fault::new(format!(
            "addresses are written in way {how}, which is not known"
        )));
    }
    if executed == 0 {
        return Ok(None);
    }
    let mut addresses = [0; LANES];
    let lanes = (0..LANES).filter(|lane| executed >> lane & 1 != 0);
    match how {
        ALL => {
            for lane in lanes {
                addresses[lane] = words.hexadecimal("the address of each lane")?;
            }
        }
        STRIDE => {
            let base = words.hexadecimal("the first address")?;
            let stride = words.distance("the distance of addresses")?;
            // The tracer writes addresses so where lanes that execute are neighbours.
            for (place, lane) in lanes.enumerate() {
                addresses[lane] = base.wrapping_add_signed(stride.wrapping_mul(place as i64));
            }
        }
        _ => {
            let mut last = words.hexadecimal("the first address")?;
            for (place, lane) in lanes.enumerate() {
                if place > 0 {
                    let delta = words.distance("the distance of each lane")?;
                    last = last.wrapping_add_signed(delta);
                }
                addresses[lane] = last;
            }
        }
    }
    Ok(Some(addresses))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version: u32) -> Header {
        Header {
            version,
            ..Header::default()
        }
    }

    fn line(text: &str) -> Result<Line<'_>, Fault> {
        Line::parse(text, &header(3))
    }

    #[test]
    fn an_instruction_without_access() {
        let line = line("0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R2 0").unwrap();
        assert_eq!((line.pc, line.executed), (0, u32::MAX));
        assert_eq!(line.opcode, "IMAD.MOV.U32");
        assert_eq!(line.destinations[..], [Name::Vector(1)]);
        assert_eq!(line.sources[..], [Name::None, Name::Vector(2)]);
        assert!(!line.accesses && line.addresses.is_none());
    }

    #[test]
    fn addresses_in_three_ways() {
        let all = line("0100 5 1 R0 LDG.E.SYS 1 R2 4 0 0x7f0000000000 0x7f0000000040").unwrap();
        let addresses = all.addresses.unwrap();
        assert_eq!(
            (addresses[0], addresses[2]),
            (0x7f00_0000_0000, 0x7f00_0000_0040)
        );
        let stride = line("0110 00000070 0 STG.E.SYS 2 R2 R0 4 1 0x7f0000000100 -4").unwrap();
        let addresses = stride.addresses.unwrap();
        assert_eq!(
            addresses[4..7],
            [0x7f00_0000_0100, 0x7f00_0000_00fc, 0x7f00_0000_00f8]
        );
        let deltas = line("0120 00000013 1 R0 LDS.U 1 R2 4 2 0x10 4 -8").unwrap();
        let addresses = deltas.addresses.unwrap();
        assert_eq!(
            (addresses[0], addresses[1], addresses[4]),
            (0x10, 0x14, 0xc)
        );
    }

    #[test]
    fn where_no_lane_executes_there_is_no_address() {
        let off = line("0150 00000000 1 R0 LDG.E.32 1 R2 4 1 0x0 0").unwrap();
        assert!(off.accesses && off.addresses.is_none());
    }

    #[test]
    fn versions_add_words_in_front() {
        let old = Line::parse("31 0 0 3 0020 ffffffff 0 EXIT 0 0", &header(2)).unwrap();
        assert_eq!((old.pc, old.opcode), (0x20, "EXIT"));
        let mut new = header(6);
        new.has_lines = true;
        let text = "17 0030 ffffffff 0 BAR.ARV 2 UR4 P0 0 1 64 NoVal";
        let new = Line::parse(text, &new).unwrap();
        assert_eq!(new.sources[..], [Name::Uniform(4), Name::Predicate(0)]);
        assert_eq!(new.immediates(), [1, 64]);
    }

    #[test]
    fn values_of_the_first_destination() {
        let text = "0030 ffffffff 1 R4 BAR.SYNC 0 0 128 0 Val 1 0x3";
        let line = Line::parse(text, &header(6)).unwrap();
        assert_eq!(line.first_value(), Some(3));
        assert_eq!(line.immediates(), [128, 0]);
    }

    #[test]
    fn what_is_cut_or_no_number_is_told() {
        for (text, message) in [
            ("", "it ends before the program counter"),
            ("0000 ffffffff 1 R1", "it ends before the opcode"),
            (
                "0000 ffffffff 9",
                "the number of destinations is 9; 8 are the most",
            ),
            ("0000 ffffffff 1 X1 MOV 0 0", "`X1` is no register"),
            ("0000 1ffffffff 0 NOP 0 0", "the mask has more than 32 bits"),
            (
                "0000 1 0 LDG 0 4 5",
                "addresses are written in way 5, which is not known",
            ),
            (
                "0000 3 0 LDG 0 4 0 0x10",
                "it ends before the address of each lane",
            ),
        ] {
            assert_eq!(line(text).unwrap_err().message, message, "{text}");
        }
        let hopper = line("0000 ffffffff 0 UTMALDG.2D 1 UR4 32 0 0").unwrap_err();
        assert!(hopper.help.is_some());
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_a_panic(text in "[0-9a-fxRUP. -]{0,80}", version in 0u32..7) {
            let _ = Line::parse(&text, &header(version));
        }
    }
}
