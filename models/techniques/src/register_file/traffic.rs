//! What an instruction has to do with the register file: other techniques may hold some of its registers elsewhere.

use warpwatt_gpu::IssuePlan;

use super::Inst;

/// An instruction on its plan.
#[derive(Clone, Copy)]
pub(super) struct Traffic<'i> {
    inst: &'i Inst,
    plan: &'i IssuePlan,
}

impl<'i> Traffic<'i> {
    /// That of `inst` on `plan`, as decided so far.
    pub fn of(inst: &'i Inst, plan: &'i IssuePlan) -> Self {
        Self { inst, plan }
    }

    /// Whether results go to the register file, if only to one lane of it.
    pub fn stores(self) -> bool {
        self.plan.writes + self.plan.narrow_writes > 0
    }

    /// Registers that are read from the file.
    pub fn reads(self) -> impl Iterator<Item = u16> + 'i {
        let words = self.inst.reads.iter().enumerate();
        words
            .filter(move |(place, _)| self.plan.is_read(*place))
            .map(|(_, &word)| word)
    }

    /// Registers that are written there: results, and copies of one lane's value to all, which are written right before their results.
    pub fn writes(self) -> impl Iterator<Item = u16> + 'i {
        let words = if self.stores() {
            &self.inst.writes[..]
        } else {
            &[]
        };
        let copies = words.iter().take(self.plan.copies as usize);
        words.iter().chain(copies).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_elsewhere_is_no_traffic() {
        let inst = Inst {
            reads: vec![4, 5, 6],
            writes: vec![7, 8],
            ..Inst::default()
        };
        let mut plan = IssuePlan::plain(2);
        let seen = |plan: &IssuePlan| {
            let traffic = Traffic::of(&inst, plan);
            (
                traffic.reads().collect::<Vec<u16>>(),
                traffic.writes().collect::<Vec<u16>>(),
            )
        };
        assert_eq!(seen(&plan), (vec![4, 5, 6], vec![7, 8]));
        plan.reads = 0b101;
        plan.copies = 1;
        assert_eq!(seen(&plan), (vec![4, 6], vec![7, 8, 7]));
        (plan.writes, plan.copies) = (0, 0);
        assert_eq!(seen(&plan), (vec![4, 6], vec![]));
        plan.narrow_writes = 2;
        assert_eq!(seen(&plan).1, [7, 8]);
    }
}
