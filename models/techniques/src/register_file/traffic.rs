//! What an instruction has to do with the register file: other techniques may hold some of its registers elsewhere.

use warpwatt_gpu::Course;

use super::Inst;

/// An instruction on its course.
#[derive(Clone, Copy)]
pub(super) struct Traffic<'i> {
    inst: &'i Inst,
    course: &'i Course,
}

impl<'i> Traffic<'i> {
    /// That of `inst` on `course`, as decided so far.
    pub fn of(inst: &'i Inst, course: &'i Course) -> Self {
        Self { inst, course }
    }

    /// Whether results go to the register file, if only to one lane of it.
    pub fn stores(self) -> bool {
        self.course.writes + self.course.narrow_writes > 0
    }

    /// Registers that are read from the file.
    pub fn reads(self) -> impl Iterator<Item = u16> + 'i {
        let words = self.inst.reads.iter().enumerate();
        words
            .filter(move |(place, _)| self.course.is_read(*place))
            .map(|(_, &word)| word)
    }

    /// Registers that are written there: results, and copies of one lane's value to all, which are written right before their results.
    pub fn writes(self) -> impl Iterator<Item = u16> + 'i {
        let words = if self.stores() {
            &self.inst.writes[..]
        } else {
            &[]
        };
        let copies = words.iter().take(self.course.copies as usize);
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
        let mut course = Course::plain(2);
        let seen = |course: &Course| {
            let traffic = Traffic::of(&inst, course);
            (
                traffic.reads().collect::<Vec<u16>>(),
                traffic.writes().collect::<Vec<u16>>(),
            )
        };
        assert_eq!(seen(&course), (vec![4, 5, 6], vec![7, 8]));
        course.reads = 0b101;
        course.copies = 1;
        assert_eq!(seen(&course), (vec![4, 6], vec![7, 8, 7]));
        (course.writes, course.copies) = (0, 0);
        assert_eq!(seen(&course), (vec![4, 6], vec![]));
        course.narrow_writes = 2;
        assert_eq!(seen(&course).1, [7, 8]);
    }
}
