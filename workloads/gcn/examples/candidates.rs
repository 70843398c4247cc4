//! Assembly of every row of the table with operands by chance, some lines a row: `tests/regenerate.sh` has LLVM's assembler say what their bytes are.

use std::collections::BTreeMap;

use warpwatt_gcn::{Form, Op, decode};

/// Where each format begins, and where its opcode lies.
const FORMATS: [(Form, u32, u32); 13] = [
    (Form::Sop2, 0x8000_0000, 23),
    (Form::Sopk, 0xb000_0000, 23),
    (Form::Sop1, 0xbe80_0000, 8),
    (Form::Sopc, 0xbf00_0000, 16),
    (Form::Sopp, 0xbf80_0000, 16),
    (Form::Smrd, 0xc000_0000, 22),
    (Form::Vop2, 0x0000_0000, 25),
    (Form::Vop1, 0x7e00_0000, 9),
    (Form::Vop3, 0xd000_0000, 17),
    (Form::Ds, 0xd800_0000, 18),
    (Form::Mubuf, 0xe000_0000, 18),
    (Form::Mtbuf, 0xe800_0000, 16),
    (Form::Vopc, 0x7c00_0000, 17),
];

/// Without what an assembler refuses: loads to the local data share, residency words, addresses of two kinds at once, clamped comparisons.
fn tamed(form: Form, [mut first, mut second]: [u32; 2]) -> [u32; 2] {
    match form {
        Form::Mubuf | Form::Mtbuf => {
            if form == Form::Mubuf {
                first &= !(1 << 16);
            }
            if first >> 15 & 1 != 0 {
                first &= !(3 << 12);
            }
            second &= !(1 << 23);
        }
        Form::Vop3 => {
            first &= !(1 << 11);
            // Integers have no signs to change.
            if second & 1 != 0 {
                first &= !(7 << 8);
                second &= (1 << 27) - 1;
            }
        }
        _ => {}
    }
    [first, second]
}

fn main() {
    let mut state = 23u64;
    let mut next = move || {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    };
    for (form, start, shift) in FORMATS {
        let codes = match form {
            Form::Vopc => 0..256,
            Form::Vop3 => 0..512,
            _ => 0..256.min(1u32 << (31 - shift)),
        };
        let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for code in codes {
            for _ in 0..2000 {
                let found = lines.entry(code).or_default();
                if found.len() == 40 {
                    break;
                }
                let noise =
                    next() & ((1 << shift) - 1) & if form == Form::Sop1 { 0xff } else { u32::MAX };
                let more = if form == Form::Sop1 {
                    (next() & 0x3f) << 16
                } else {
                    0
                };
                let words = tamed(form, [start | code << shift | noise | more, next()]);
                if let Ok(inst) = decode(&words)
                    && (inst.op.row().form == form || form == Form::Vop3)
                    && inst.op != Op::SEndpgm
                {
                    found.push(inst.to_string());
                }
            }
        }
        lines
            .into_values()
            .flatten()
            .for_each(|line| println!("{line}"));
    }
}
