//! Which bits of a result a source needs, by how the instruction uses it.

use warpwatt_simt::trace::{Need, Role};

/// The bits of a source that a lane needs, `results` being the bits of its results that are needed (of all results together), and `of_lanes` those that any
/// executing lane needs. `matters` says whether the lane does something that is needed: a result, or a store.
#[inline]
pub(crate) fn demand(need: Need, results: u64, of_lanes: u64, matters: bool) -> u64 {
    let all_if = |needed: bool| if needed { u64::MAX } else { 0 };
    let bits = match need.role {
        Role::Always => u64::MAX,
        Role::Guard | Role::Address | Role::Stored => all_if(matters),
        Role::Whole => all_if(results != 0),
        Role::Bitwise => results,
        Role::NotAbove => u64::MAX.checked_shr(results.leading_zeros()).unwrap_or(0),
        Role::Shifted(by) if by >= 0 => results
            .checked_shr(u32::from(by.unsigned_abs()))
            .unwrap_or(0),
        Role::Shifted(by) => results
            .checked_shl(u32::from(by.unsigned_abs()))
            .unwrap_or(0),
        Role::BitwiseOfLanes => of_lanes,
        Role::OfLanes => all_if(of_lanes != 0),
    };
    bits & need.bits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(role: Role, results: u64) -> u64 {
        let need = Need {
            role,
            bits: u64::MAX,
        };
        demand(need, results, 0, results != 0)
    }

    #[test]
    fn roles_pass_on_what_they_can_reach() {
        assert_eq!(of(Role::Bitwise, 0b1010), 0b1010);
        assert_eq!(of(Role::NotAbove, 0b1010), 0b1111);
        assert_eq!(of(Role::NotAbove, 0), 0);
        assert_eq!(of(Role::NotAbove, u64::MAX), u64::MAX);
        assert_eq!(of(Role::Shifted(4), 0xff), 0xf);
        assert_eq!(of(Role::Shifted(-4), 0xff), 0xff0);
        assert_eq!(of(Role::Shifted(-128), 0xff), 0);
        assert_eq!(of(Role::Whole, 1), u64::MAX);
        assert_eq!(of(Role::Whole, 0), 0);
        assert_eq!(of(Role::Always, 0), u64::MAX);
        assert_eq!(of(Role::OfLanes, 1), 0, "no lane needs anything");
    }

    #[test]
    fn bits_that_are_masked_off_are_never_needed() {
        let need = Need {
            role: Role::Bitwise,
            bits: 0xff,
        };
        assert_eq!(demand(need, u64::MAX, 0, true), 0xff);
    }
}
