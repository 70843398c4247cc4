//! The static CMOS gates that everything else is built from: what they compute and how their transistors stand.

/// A gate of one stage. Exclusive-ors, multiplexers and the like are made of several (see [`super::netlist`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Inverter.
    Inv,
    /// NAND of two to four inputs.
    Nand2,
    /// NAND of three.
    Nand3,
    /// NAND of four.
    Nand4,
    /// NOR of two inputs.
    Nor2,
    /// NOR of three.
    Nor3,
    /// Not (a b or c).
    Aoi21,
    /// Not (a b or c d).
    Aoi22,
    /// Not ((a or b) c).
    Oai21,
    /// Not ((a or b)(c or d)).
    Oai22,
    /// Edge-triggered flip-flop: data in, data out.
    Flop,
}

/// The inputs of a gate in groups. `products` tells whether a group is a product (series in the pull-down network), the groups then being summed, or the dual.
struct Shape {
    products: bool,
    groups: &'static [&'static [usize]],
}

impl Kind {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 11] = [
        Self::Inv,
        Self::Nand2,
        Self::Nand3,
        Self::Nand4,
        Self::Nor2,
        Self::Nor3,
        Self::Aoi21,
        Self::Aoi22,
        Self::Oai21,
        Self::Oai22,
        Self::Flop,
    ];

    /// As a cell library names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inv => "INV",
            Self::Nand2 => "NAND2",
            Self::Nand3 => "NAND3",
            Self::Nand4 => "NAND4",
            Self::Nor2 => "NOR2",
            Self::Nor3 => "NOR3",
            Self::Aoi21 => "AOI21",
            Self::Aoi22 => "AOI22",
            Self::Oai21 => "OAI21",
            Self::Oai22 => "OAI22",
            Self::Flop => "DFF",
        }
    }

    fn shape(self) -> Shape {
        let (products, groups): (bool, &[&[usize]]) = match self {
            Self::Inv | Self::Flop => (true, &[&[0]]),
            Self::Nand2 => (true, &[&[0, 1]]),
            Self::Nand3 => (true, &[&[0, 1, 2]]),
            Self::Nand4 => (true, &[&[0, 1, 2, 3]]),
            Self::Nor2 => (true, &[&[0], &[1]]),
            Self::Nor3 => (true, &[&[0], &[1], &[2]]),
            Self::Aoi21 => (true, &[&[0, 1], &[2]]),
            Self::Aoi22 => (true, &[&[0, 1], &[2, 3]]),
            Self::Oai21 => (false, &[&[0, 1], &[2]]),
            Self::Oai22 => (false, &[&[0, 1], &[2, 3]]),
        };
        Shape { products, groups }
    }

    /// How many inputs it has.
    pub(crate) fn inputs(self) -> usize {
        self.shape().groups.iter().map(|group| group.len()).sum()
    }

    /// Its output; of a flip-flop the data itself.
    pub(crate) fn output(self, inputs: &[bool]) -> bool {
        if self == Self::Flop {
            return inputs[0];
        }
        let Shape { products, groups } = self.shape();
        let conducts = if products {
            groups.iter().any(|group| group.iter().all(|&i| inputs[i]))
        } else {
            groups.iter().all(|group| group.iter().any(|&i| inputs[i]))
        };
        !conducts
    }

    /// Most transistors in series in the pull-down and in the pull-up network.
    pub(crate) fn stacks(self) -> (u32, u32) {
        let Shape { products, groups } = self.shape();
        let longest = groups.iter().map(|group| group.len()).max().unwrap_or(1) as u32;
        let count = groups.len() as u32;
        if products {
            (longest, count)
        } else {
            (count, longest)
        }
    }

    /// Branches that end at the output: drains of N and of P transistors there.
    pub(crate) fn drains(self) -> (u32, u32) {
        let Shape { products, groups } = self.shape();
        let last = groups.last().map_or(1, |group| group.len()) as u32;
        let count = groups.len() as u32;
        if products {
            (count, last)
        } else {
            (last, count)
        }
    }

    /// Off-current in a state: of N transistors if the output is high, of P transistors if it is low, each in currents of one transistor. `stack` is the
    /// current of two off in series over that of one.
    pub(crate) fn off(self, inputs: &[bool], stack: f64) -> (f64, f64) {
        let high = if self == Self::Flop {
            !inputs[0]
        } else {
            self.output(inputs)
        };
        let Shape { products, groups } = self.shape();
        // A transistor of the network that is off sees a low input if it is an N, a high one if it is a P.
        let blocked = |i: usize| inputs[i] != high;
        let series = |off: u32| {
            if off == 0 {
                0.0
            } else {
                libm::pow(stack, f64::from(off - 1))
            }
        };
        let count = |group: &[usize]| group.iter().filter(|&&i| blocked(i)).count() as u32;
        let current = if products == high {
            // Branches of transistors in series, side by side.
            groups.iter().map(|group| series(count(group))).sum()
        } else {
            // Groups of transistors side by side, in series: those that are wholly off hold the current back.
            let off = groups
                .iter()
                .filter(|group| count(group) as usize == group.len());
            let (number, least) = off.fold((0, f64::INFINITY), |(number, least), group| {
                (number + 1, least.min(group.len() as f64))
            });
            if number == 0 {
                0.0
            } else {
                least * series(number)
            }
        };
        if high { (current, 0.0) } else { (0.0, current) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(kind: Kind) -> impl Iterator<Item = Vec<bool>> {
        let inputs = kind.inputs();
        (0..1_usize << inputs).map(move |state| (0..inputs).map(|i| state >> i & 1 == 1).collect())
    }

    #[test]
    fn kinds_are_numbered_in_their_order() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }

    #[test]
    fn one_network_leaks_in_every_state_and_a_stack_leaks_least() {
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Flop) {
            for state in states(kind) {
                let (n, p) = kind.off(&state, 0.2);
                assert_eq!(n > 0.0, kind.output(&state), "{kind:?} {state:?}");
                assert_eq!(p > 0.0, !kind.output(&state), "{kind:?} {state:?}");
            }
        }
        let (both, _) = Kind::Nand2.off(&[false, false], 0.2);
        let (one, _) = Kind::Nand2.off(&[true, false], 0.2);
        assert!(both < one);
        assert!((Kind::Nand2.off(&[true, true], 0.2).1 - 2.0).abs() < 1e-12);
    }

    #[test]
    fn and_or_invert_and_its_dual_compute_what_they_are_named_for() {
        for state in states(Kind::Aoi22) {
            let (a, b, c, d) = (state[0], state[1], state[2], state[3]);
            assert_eq!(Kind::Aoi22.output(&state), !((a && b) || (c && d)));
            assert_eq!(Kind::Oai22.output(&state), !((a || b) && (c || d)));
        }
        assert_eq!(Kind::Aoi21.stacks(), (2, 2));
        assert_eq!(Kind::Nor3.stacks(), (1, 3));
    }
}
