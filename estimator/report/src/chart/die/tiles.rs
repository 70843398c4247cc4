//! What of a chip is priced, as areas by group.

use crate::outcome::{DRAM, Outcome, PricedStructure};

/// A structure with all its instances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile<'o> {
    /// Its name.
    pub name: &'o str,
    /// Area of all instances.
    pub area_m2: f64,
    /// Mean dynamic and leakage power of all instances.
    pub power_w: f64,
}

/// Structures that belong together, the largest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<'o> {
    /// Its name.
    pub name: &'o str,
    /// The structures.
    pub tiles: Vec<Tile<'o>>,
}

/// The groups of a chip, the largest first, and what is not on the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tiles<'o> {
    /// What has an area on the chip.
    pub groups: Vec<Group<'o>>,
    /// What stands beside the chip.
    pub beside: Vec<&'o str>,
    /// What has no area of its own: it lies in that of another structure, or the chip has none of it.
    pub without: Vec<&'o str>,
}

impl Tile<'_> {
    /// Watts a square millimetre.
    pub fn density(&self) -> f64 {
        self.power_w / (1e6 * self.area_m2)
    }
}

impl<'o> Group<'o> {
    /// Its structures together.
    pub fn whole(&self) -> Tile<'o> {
        Tile {
            name: self.name,
            area_m2: self.tiles.iter().map(|tile| tile.area_m2).sum(),
            power_w: self.tiles.iter().map(|tile| tile.power_w).sum(),
        }
    }
}

impl<'o> Tiles<'o> {
    /// Those of a point.
    pub fn of(outcome: &'o Outcome) -> Self {
        let mut tiles = Self::default();
        for structure in &outcome.structures {
            if &*structure.group == DRAM {
                tiles.beside.push(&structure.name);
            } else if structure.total_area_m2() > 0.0 {
                tiles.add(structure, outcome.time_s);
            } else {
                tiles.without.push(&structure.name);
            }
        }
        let falling = |a: &Tile, b: &Tile| b.area_m2.total_cmp(&a.area_m2);
        for group in &mut tiles.groups {
            group.tiles.sort_by(falling);
        }
        let groups = &mut tiles.groups;
        groups.sort_by(|a, b| falling(&a.whole(), &b.whole()));
        tiles
    }

    fn add(&mut self, structure: &'o PricedStructure, time_s: f64) {
        let energy_j = structure.energy_j();
        let tile = Tile {
            name: &structure.name,
            area_m2: structure.total_area_m2(),
            power_w: if time_s > 0.0 { energy_j / time_s } else { 0.0 },
        };
        let groups = &mut self.groups;
        match groups.iter_mut().find(|it| it.name == &*structure.group) {
            Some(group) => group.tiles.push(tile),
            None => groups.push(Group {
                name: &structure.group,
                tiles: vec![tile],
            }),
        }
    }

    /// All of it together.
    pub fn whole(&self) -> Tile<'o> {
        let groups = self.groups.iter().map(Group::whole).collect();
        let name = "chip";
        Group {
            name,
            tiles: groups,
        }
        .whole()
    }
}
