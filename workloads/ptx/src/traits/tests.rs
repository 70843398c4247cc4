use super::*;
use crate::program::{Long1, Word1, Word2};

#[test]
fn what_a_clock_or_a_frame_says_does_not_follow_from_sources() {
    assert!(Op::Word1(Word1::Copy).traits().is_pure());
    assert!(Op::Long1(Long1::Copy).traits().is_pure());
    for op in [Op::Clock, Op::FrameAddress(0), Op::ActiveMask, Op::Yield] {
        assert!(!op.traits().is_pure(), "{op:?}");
    }
    assert_eq!(Op::Clock.traits().effect, Effect::ReadsClock);
}

#[test]
fn what_acts_has_sources_that_are_always_needed() {
    for op in [Op::Return, Op::Exit, Op::Trap, Op::Yield] {
        let traits = op.traits();
        assert!(
            traits.acts() && traits.sources == Dependence::Always,
            "{op:?}"
        );
    }
    assert!(!Op::Word2(Word2::Add).traits().acts());
}
