//! Table 1 of the filter-cache paper (Lashgar, Baniasadi, Khonsari, ARCS 2013; "CACTI 6.5, 32 nm"), row by row, from the circuit models alone.

use warpwatt_circuit::{
    Access, CacheSpec, Cost, OperatingPoint, Ports, Profile, RamSpec, Spec, TagSpec, cost,
};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

/// A row: area in um2, leakage in mW, energy of an access in pJ, delay in ps.
struct Line {
    name: &'static str,
    paper: [f64; 4],
    /// What a careful reading of the paper gives us to model.
    ours: Cost,
    /// Bounds on the relative errors; the paper prints two digits of most leakages and energies.
    within: [f64; 4],
}

fn price(spec: &Spec) -> Cost {
    let technology = Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    cost(&technology, &at, Profile::Cacti65, spec).unwrap()
}

fn ram(words: u64, bits: u64, banks: u32) -> Cost {
    price(&Spec::Ram(RamSpec {
        words,
        bits,
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks,
    }))
}

fn tags(sets: u64, tag_bits: u32) -> Cost {
    price(&Spec::Tags(TagSpec {
        sets,
        ways: 1,
        tag_bits,
        ports: Ports::READ_AND_WRITE,
    }))
}

/// The data side of a direct-mapped cache: its organisation is chosen for the whole cache.
fn data_side(sets: u64, line_bits: u64, tag_bits: u32) -> Cost {
    let ports = Ports::READ_AND_WRITE;
    let spec = CacheSpec {
        sets,
        ways: 1,
        line_bits,
        tag_bits: Some(tag_bits),
        out_bits: None,
        ports,
        access: Access::Normal,
        banks: 1,
    };
    let data = price(&Spec::CacheData(spec.clone()));
    assert_eq!(Some(&data), price(&Spec::Cache(spec)).data.as_deref());
    data
}

fn table() -> Vec<Line> {
    let line = |name, paper, ours, within| Line {
        name,
        paper,
        ours,
        within,
    };
    // Rounded to two digits, 0.03 mW may be 17 % off and 0.16 mW 3 %.
    vec![
        line(
            "I-cache tag",
            [229.0, 0.03, 0.13, 115.94],
            tags(16, 24),
            [0.002, 0.17, 0.04, 0.001],
        ),
        line(
            "I-cache data",
            [18204.0, 1.78, 4.3, 221.2],
            ram(256, 128, 1),
            [0.001, 0.003, 0.01, 0.001],
        ),
        line(
            "instruction buffer",
            [2600.0, 0.16, 1.0, 137.59],
            ram(48, 64, 1),
            [0.001, 0.03, 0.05, 0.001],
        ),
        line(
            "scoreboard",
            [6921.0, 0.24, 1.57, 162.17],
            ram(32, 128, 1),
            [0.001, 0.02, 0.003, 0.001],
        ),
        line(
            "filter cache tag, 32",
            [266.0, 0.03, 0.14, 117.28],
            tags(16, 28),
            [0.002, 0.17, 0.04, 0.001],
        ),
        line(
            "filter cache data, 32",
            [2229.0, 0.11, 0.81, 161.76],
            data_side(32, 64, 28),
            [0.001, 0.05, 0.006, 0.001],
        ),
        // Not in the paper: what the operand buffer holds. Nearest: two banks of 60 words.
        line(
            "operand buffer",
            [24173.0, 0.53, 4.16, 174.05],
            ram(120, 128, 2),
            [0.13, 0.9, 0.02, 0.02],
        ),
        // Scaled in the paper from larger arrays, as CACTI refuses them; here modelled by the same equations.
        line(
            "filter cache tag, 16",
            [155.0, 0.02, 0.1, 105.47],
            tags(8, 28),
            [0.6, 0.5, 0.5, 0.4],
        ),
        line(
            "filter cache data, 16",
            [1337.0, 0.05, 0.57, 143.38],
            ram(16, 64, 1),
            [0.4, 0.2, 0.2, 0.1],
        ),
    ]
}

#[test]
fn table_1_of_the_filter_cache_paper() {
    println!(
        "{:24}{:>34}{:>34}{:>34}{:>34}",
        "paper / ours / error", "area, um2", "leakage, mW", "energy, pJ", "delay, ps"
    );
    for Line {
        name,
        paper,
        ours,
        within,
    } in table()
    {
        let figures = [
            ours.area.as_um2(),
            ours.leakage.as_mw(),
            ours.read_energy.as_pj(),
            ours.access_time.as_ps(),
        ];
        let errors: Vec<f64> = figures
            .iter()
            .zip(paper)
            .map(|(ours, paper)| ours / paper - 1.0)
            .collect();
        let cell = |i: usize| {
            format!(
                "{:>12.4} {:>12.4} {:>+7.1}%",
                paper[i],
                figures[i],
                errors[i] * 100.0
            )
        };
        println!(
            "{name:24}{:>34}{:>34}{:>34}{:>34}",
            cell(0),
            cell(1),
            cell(2),
            cell(3)
        );
        for (i, error) in errors.iter().enumerate() {
            assert!(
                error.abs() <= within[i],
                "{name}: figure {i} is off by {:.1} %",
                error * 100.0
            );
        }
    }
}

#[test]
fn arrays_smaller_than_the_tool_accepts_are_not_the_straight_line_of_the_paper() {
    // A gap with a cause: the paper extrapolates 16 entries linearly (0.600 times the area of 32), but row decoders and amplifiers do not shrink.
    let (small, large) = (ram(16, 64, 1), ram(32, 64, 1));
    let ratio = small.area / large.area;
    assert!((0.70..0.85).contains(&ratio), "ratio {ratio}");
}
