//! What the picture of a chip shows, on hand-made points.

use approx::assert_relative_eq;
use proptest::prelude::*;

use super::*;
use crate::outcome::{DRAM, PricedStructure};
use crate::sample;

/// A point with structures of these groups and areas.
fn point(structures: &[(&str, &str, f64)]) -> Outcome {
    let mut point = sample::outcomes().swap_remove(0);
    let model = point.structures[0].clone();
    let structure = |(name, group, area_m2): &(&str, &str, f64)| PricedStructure {
        name: (*name).into(),
        group: (*group).into(),
        area_m2: *area_m2,
        ..model.clone()
    };
    point.structures = structures.iter().map(structure).collect();
    point
}

/// Sixteen structures of 0.25 mm2 in one group and sixteen of 0.0625 mm2 in another are 4 mm2 and 1 mm2 of a chip of 5 mm2.
#[test]
fn a_rectangle_is_as_large_as_all_instances() {
    let point = point(&[
        ("small", "storage", 0.0625e-6),
        ("large", "front_end", 0.25e-6),
    ]);
    let tiles = Tiles::of(&point);
    assert_relative_eq!(tiles.whole().area_m2, 5e-6, max_relative = 1e-12);
    // 632 units are the width of a chip of 5 mm2 in the shape 3 to 2.
    let scale = 632.0 / (7.5e-6f64).sqrt();
    let places = places(&tiles, scale);
    let areas = places.iter().map(|(group, _, rects)| {
        let [_, _, width, height] = rects[0];
        (group.tiles[0].name, width * height / (scale * scale))
    });
    let areas: Vec<(&str, f64)> = areas.collect();
    assert_eq!(areas[0].0, "large");
    assert_relative_eq!(areas[0].1, 4e-6, max_relative = 1e-9);
    assert_relative_eq!(areas[1].1, 1e-6, max_relative = 1e-9);
    let picture = dies(&[&point], "die").remove(0);
    assert!(picture.contains("<title>large: 4.00 mm²"), "{picture}");
    // A quarter of 2.74 mm is 0.68 mm: the ruler has 0.5 mm, 632 / 2.7386 x 0.5 = 115.4 units.
    assert!(
        picture.contains(r#"x1="4.0" y1="462.3" x2="119.4""#),
        "{picture}"
    );
    assert!(picture.contains(">0.5 mm</text>"), "{picture}");
}

/// The power of a structure is all of its energy over the time, over all its area.
#[test]
fn power_density_is_energy_over_time_and_area() {
    let mut point = point(&[("only", "front_end", 0.125e-6)]);
    point.time_s = 2e-3;
    point.structures[0].dynamic_j = 3e-3;
    point.structures[0].leakage_j = 1e-3;
    let tiles = Tiles::of(&point);
    let tile = tiles.groups[0].tiles[0];
    assert_relative_eq!(tile.power_w, 2.0, max_relative = 1e-12);
    assert_relative_eq!(tile.density(), 1.0, max_relative = 1e-12);
}

#[test]
fn what_is_not_on_the_chip_is_named_and_not_drawn() {
    let point = point(&[
        ("a", "front_end", 1e-6),
        ("dram", DRAM, 1e-3),
        ("fp32_add", "execution", 0.0),
    ]);
    let tiles = Tiles::of(&point);
    assert_eq!(
        (tiles.beside, tiles.without),
        (vec!["dram"], vec!["fp32_add"])
    );
    assert_relative_eq!(tiles.groups[0].whole().area_m2, 16e-6, max_relative = 1e-12);
    let picture = dies(&[&point], "die").remove(0);
    assert!(!picture.contains("dram") && !picture.contains("fp32_add"));
}

/// Both chips have one scale: a technique's larger chip is wider, and the plain one is as much smaller as its area is.
#[test]
fn chips_beside_each_other_have_one_scale() {
    let (plain, with) = (
        point(&[("a", "front_end", 1e-6)]),
        point(&[("a", "front_end", 1e-6), ("b", "front_end", 3e-6)]),
    );
    let pictures = dies(&[&plain, &with], "die");
    let frame = |picture: &str| {
        let frame = picture.split("class=\"frame\"").nth(1).unwrap();
        let width = frame.split("width=\"").nth(1).unwrap();
        width.split('"').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!([frame(&pictures[0]), frame(&pictures[1])], [316.0, 632.0]);
}

#[test]
fn names_are_broken_where_their_words_meet() {
    let fits = |text: &str| text.len() <= 12;
    assert_eq!(broken("scoreboard", &fits), Some(vec!["scoreboard"]));
    let parts = broken("instruction_buffer", &fits);
    assert_eq!(parts, Some(vec!["instruction_", "buffer"]));
    assert_eq!(broken("unbreakablename", &fits), None);
}

#[test]
fn a_chip_looks_like_this() {
    let outcomes = sample::outcomes();
    let pictures = dies(&[&outcomes[0], &outcomes[1]], "die");
    insta::assert_snapshot!(pictures.join("\n"));
}

proptest! {
    /// Groups tile the chip and structures their group, whatever their areas.
    #[test]
    fn groups_and_structures_tile_the_chip(areas in prop::collection::vec((-4.0..0.0f64, 0..4usize), 1..40)) {
        let names: Vec<String> = (0..areas.len()).map(|number| format!("s{number}")).collect();
        let groups = ["front_end", "storage", "execution", "uncore"];
        let structures: Vec<(&str, &str, f64)> = names
            .iter()
            .zip(&areas)
            .map(|(name, (power, group))| (name.as_str(), groups[*group], 1e-6 * libm::exp10(*power)))
            .collect();
        let point = point(&structures);
        let tiles = Tiles::of(&point);
        let scale = 1e5;
        let whole = scale * scale * tiles.whole().area_m2;
        let mut covered = 0.0;
        for (group, space, rects) in places(&tiles, scale) {
            let mut own = 0.0;
            for (tile, [left, top, width, height]) in group.tiles.iter().zip(rects) {
                let area = scale * scale * tile.area_m2;
                prop_assert!((width * height / area - 1.0).abs() < 1e-9);
                let slack = 1e-9 * whole.sqrt();
                prop_assert!(left >= space[0] - slack && left + width <= space[0] + space[2] + slack);
                prop_assert!(top >= space[1] - slack && top + height <= space[1] + space[3] + slack);
                own += width * height;
            }
            prop_assert!((own / (space[2] * space[3]) - 1.0).abs() < 1e-9);
            covered += own;
        }
        prop_assert!((covered / whole - 1.0).abs() < 1e-9);
    }
}
