//! Instructions that few kernels have, with results that can be worked out by hand.

use warpwatt_ptx::load;
use warpwatt_ptx::types::Type;
use warpwatt_simt::{
    Border, Cause, DeviceMemory, ExecError, Filter, Launch, Options, Texture, execute,
};

/// Runs a kernel on a buffer of words, which is its only parameter and in `%d1`; `%r1` is the thread, `%d2` its word's address.
fn run_in(
    memory: &mut dyn FnMut(&mut DeviceMemory, u64),
    body: &str,
    words: &[u32],
) -> Result<Vec<u32>, ExecError> {
    let source = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n
        .extern .func (.param .b64 r) malloc (.param .b64 a);\n.extern .func free (.param .b64 a);\n
        .visible .entry k(.param .u64 p)\n{{
        .shared .align 16 .b8 s[1024];
        .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<29>; .reg .b64 %d<29>;
        ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mad.wide.u32 %d2, %r1, 4, %d1;
        {body}\nret;\n}}\n"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut device = DeviceMemory::new(&module);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let address = device.alloc("p", bytes);
    memory(&mut device, address);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    execute(&module, &launch, &mut device, &Options::default())?;
    let words = device.buffer(address).chunks_exact(4);
    Ok(words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect())
}

fn run(body: &str, words: &[u32]) -> Vec<u32> {
    run_in(&mut |_, _| {}, body, words).unwrap_or_else(|error| panic!("{error}"))
}

fn cause(result: Result<Vec<u32>, ExecError>) -> Cause {
    match result {
        Err(ExecError::Fault(fault)) => fault.cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_lies_behind_a_variable_has_an_address() {
    let after = run(
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; mov.u32 %r2, s; mov.u32 %r3, s+24; sub.u32 %r3, %r3, %r2; st.global.u32 [%d1], %r3;
        mov.b64 %d3, s + 1016; mov.b64 %d4, s+-8; sub.u64 %d3, %d3, %d4; st.global.u64 [%d1+8], %d3;
        st.shared.u32 [s+40], %r3; mov.u32 %r4, s+48; ld.shared.u32 %r5, [%r4-8]; st.global.u32 [%d1+4], %r5; END:",
        &[0; 4],
    );
    assert_eq!(after, [24, 24, 1024, 0]);
}

#[test]
fn asynchronous_copies_are_there_after_the_wait_and_zero_beyond_what_is_read() {
    let words: Vec<u32> = (0..128).collect();
    let after = run(
        "mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 16, %r2; mad.wide.u32 %d3, %r1, 16, %d1;
        cp.async.cg.shared.global [%r2], [%d3], 16, 8; cp.async.commit_group; cp.async.wait_group 0;
        ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2]; st.global.v4.u32 [%d3], {%r4, %r3, %r5, %r6};",
        &words,
    );
    for lane in 0..32u32 {
        assert_eq!(
            after[4 * lane as usize..][..4],
            [4 * lane + 1, 4 * lane, 0, 0]
        );
    }
}

#[test]
fn bulk_copies_tell_a_barrier_in_memory() {
    let words: Vec<u32> = (0..32).collect();
    let after = run(
        "mov.u32 %r2, s; add.u32 %r3, %r2, 512; setp.eq.u32 %p1, %r1, 0;
        @%p1 mbarrier.init.shared.b64 [%r3], 32; bar.sync 0;
        @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], 128;
        @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 128, [%r3];
        mbarrier.arrive.shared.b64 %d3, [%r3];
        W: mbarrier.try_wait.shared.b64 %p2, [%r3], %d3; @!%p2 bra W;
        mad.lo.u32 %r4, %r1, 4, %r2; ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, 100; st.global.u32 [%d2], %r5;",
        &words,
    );
    assert_eq!(after, (100..132).collect::<Vec<_>>());
}

#[test]
fn the_heap_gives_every_lane_memory_of_its_own_and_takes_it_back_once() {
    let allocate = "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 8; call.uni (r), malloc, (a); ld.param.b64 %d3, [r]; }
        st.u32 [%d3], %r1; ld.u32 %r2, [%d3]; st.global.u32 [%d2], %r2;";
    let release = "{ .param .b64 a; st.param.b64 [a], %d3; call.uni free, (a); }";
    let after = run(&format!("{allocate}{release}"), &[9; 32]);
    assert_eq!(after, (0..32).collect::<Vec<_>>());
    let twice = format!("{allocate}{release}{release}");
    let stopped = run_in(&mut |_, _| {}, &twice, &[9; 32]);
    assert!(matches!(cause(stopped), Cause::BadFree(_)));
    let reads_behind = format!("{allocate} ld.u32 %r3, [%d3+8000000];");
    let stopped = run_in(&mut |_, _| {}, &reads_behind, &[9; 32]);
    assert!(matches!(cause(stopped), Cause::OutOfBounds { .. }));
}

/// The buffer of 32 words as an image of 4 x 8, or of 4 x 4 in two layers.
fn image(height: u32, layers: u32) -> impl FnMut(&mut DeviceMemory, u64) {
    move |memory, address| {
        let texture = Texture {
            address,
            extent: [4, height, layers],
            pitch: 16,
            element: Type::U32,
            channels: 1,
            border: Border::Clamp,
            filter: Filter::Nearest,
            normalized: false,
            fractions: false,
        };
        memory.bind_texture(address, texture);
    }
}

#[test]
fn surfaces_are_read_and_written_in_bytes_along_rows() {
    let words: Vec<u32> = (0..32).collect();
    let body = "and.b32 %r2, %r1, 3; shl.b32 %r3, %r2, 2; shr.u32 %r4, %r1, 2;
        suld.b.2d.b32.trap %r5, [%d1, {%r3, %r4}]; mul.lo.u32 %r5, %r5, 3; sust.b.2d.b32.trap [%d1, {%r3, %r4}], %r5;";
    let after = run_in(&mut image(8, 1), body, &words).unwrap();
    assert_eq!(after, words.iter().map(|word| word * 3).collect::<Vec<_>>());
    let layered = "mov.u32 %r9, 1; shl.b32 %r3, %r1, 2; mov.u32 %r4, 2;
        suld.b.a2d.b32.zero %r5, [%d1, {%r9, %r3, %r4, %r4}]; st.global.u32 [%d2], %r5;";
    let after = run_in(&mut image(4, 2), layered, &words).unwrap();
    // Row 2 of layer 1 has four pixels; the other lanes read outside.
    assert_eq!(after[..5], [24, 25, 26, 27, 0]);
}

#[test]
fn what_lies_outside_of_a_surface_is_nothing_the_edge_or_the_end() {
    let words: Vec<u32> = (0..32).collect();
    let at = |mode: &str| {
        format!(
            "mov.u32 %r3, 400; mov.u32 %r4, 1; suld.b.2d.b32.{mode} %r5, [%d1, {{%r3, %r4}}]; st.global.u32 [%d1], %r5;"
        )
    };
    assert_eq!(run_in(&mut image(8, 1), &at("zero"), &words).unwrap()[0], 0);
    assert_eq!(
        run_in(&mut image(8, 1), &at("clamp"), &words).unwrap()[0],
        7
    );
    let stopped = run_in(&mut image(8, 1), &at("trap"), &words);
    assert!(matches!(
        cause(stopped),
        Cause::OutsideSurface {
            position: [400, 1, 0]
        }
    ));
}

#[test]
fn layers_are_chosen_and_four_neighbours_gathered() {
    let words: Vec<u32> = (0..32).collect();
    let layer = "mov.u32 %r2, 1; mov.b32 %r3, 0f40200000; mov.b32 %r4, 0f3F800000;
        tex.a2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%d1, {%r2, %r3, %r4, %r4}]; st.global.u32 [%d2], %r5;";
    // Column 2 and row 1 of the second layer.
    assert_eq!(run_in(&mut image(4, 2), layer, &words).unwrap()[7], 16 + 6);
    let gather = "mov.b32 %r3, 0f40000000; mov.b32 %r4, 0f3F800000;
        tld4.r.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%d1, {%r3, %r4}]; st.global.v4.u32 [%d1], {%r5, %r6, %r7, %r8};";
    // Between columns 1 and 2, rows 0 and 1.
    assert_eq!(
        run_in(&mut image(8, 1), gather, &words).unwrap()[..4],
        [5, 6, 2, 1]
    );
}

#[test]
fn atomics_on_halves_and_vectors_change_each_element() {
    let body = "mov.b32 %r2, 0x3c003c00; red.global.add.noftz.f16x2 [%d1], %r2;
        mov.b32 %r3, 0f3F800000; mov.b32 %r4, 0f40000000; red.global.add.v2.f32 [%d1+8], {%r3, %r4};
        mov.u16 %h1, 0; mov.u16 %h2, 7; atom.global.cas.b16 %h3, [%d1+18], %h1, %h2;";
    let after = run(body, &[0; 8]);
    // 32 in both halves; 32.0 and 64.0; the upper half of a word.
    assert_eq!(after[0], 0x5000_5000);
    assert_eq!(after[2..4], [32f32.to_bits(), 64f32.to_bits()]);
    assert_eq!(after[4], 7 << 16);
}

#[test]
fn comparisons_of_halves_give_ones_or_all_bits() {
    let body = "mov.b32 %r2, 0x7e003c00; mov.b32 %r3, 0x3c004000;
        set.lt.f16x2.f16x2 %r4, %r2, %r3; set.neu.u32.f16x2 %r5, %r2, %r3; setp.ne.s32 %p1, %r1, %r1;
        set.lt.or.s32.s32 %r6, %r1, 4, %p1; st.global.v2.u32 [%d1], {%r4, %r5}; st.global.u32 [%d2+8], %r6;";
    let after = run(body, &[0; 40]);
    // The upper elements are NaN and 1.
    assert_eq!(after[..2], [0x3c00, u32::MAX]);
    assert_eq!(after[2..7], [u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0]);
}

#[test]
fn parts_are_packed_and_unpacked() {
    let body = "mov.u16 %h1, 1; mov.u16 %h2, 2; mov.u16 %h3, 3; mov.u16 %h4, 4; mov.b64 %d3, {%h1, %h2, %h3, %h4};
        st.global.b64 [%d1], %d3; mov.b64 {%h4, %h3, %h2, %h1}, %d3; mov.b64 %d3, {%h1, %h2, %h3, %h4}; st.global.b64 [%d1+8], %d3;
        cvt.pack.sat.u8.s32.b32 %r2, 300, -5, 0x1234; st.global.u32 [%d1+16], %r2;";
    assert_eq!(
        run(body, &[0; 5]),
        [
            0x0002_0001,
            0x0004_0003,
            0x0003_0004,
            0x0001_0002,
            0x1234_ff00
        ]
    );
}

#[test]
fn forms_of_several_instructions_are_what_their_parts_make() {
    let body = "mov.b32 %r2, 0fC0400000; mov.b32 %r3, 0f40000000; min.xorsign.abs.f32 %r4, %r2, %r3; st.global.u32 [%d1], %r4;
        min.relu.s32 %r5, -7, 4; st.global.u32 [%d1+4], %r5; mad.hi.sat.s32 %r6, 0x7fffffff, 0x7fffffff, 0x7fffffff; st.global.u32 [%d1+8], %r6;
        setp.eq.u32 %p1, %r1, 99; lop3.or.b32 %r7|%p2, 1, 2, 4, 0xfe, %p1; selp.u32 %r8, 1, 0, %p2; st.global.v2.u32 [%d1+16], {%r7, %r8};
        cnot.b32 %r9, 0; st.global.u32 [%d1+12], %r9;";
    let after = run(body, &[0; 6]);
    // Magnitudes 3 and 2, the sign of the product of -3 and 2.
    assert_eq!(after, [(-2f32).to_bits(), 0, 0x7fff_ffff, 1, 7, 1]);
}

#[test]
fn the_smallest_and_the_largest_of_three() {
    let values = [1.5f32, -2.0, 0.0, -0.0, f32::NAN, 1e-40, f32::NEG_INFINITY];
    let mut body = String::new();
    let mut wanted = Vec::new();
    let mut at = 0;
    for (a, b, c) in (0..49).map(|i| (values[i % 7], values[i / 7], values[(i * 3 + 1) % 7])) {
        for (form, nan, magnitudes) in [
            ("", false, false),
            (".NaN", true, false),
            (".abs", false, true),
            (".ftz.NaN.abs", true, true),
        ] {
            body += &format!(
                "mov.b32 %r2, {}; mov.b32 %r3, {}; mov.b32 %r4, {};",
                a.to_bits(),
                b.to_bits(),
                c.to_bits()
            );
            for (opcode, largest) in [("min", false), ("max", true)] {
                body += &format!(
                    "{opcode}{form}.f32 %r5, %r2, %r3, %r4; st.global.u32 [%d1+{at}], %r5;\n"
                );
                at += 4;
                let flush = |x: f32| {
                    if form.contains("ftz") && x.is_subnormal() {
                        0.0f32.copysign(x)
                    } else {
                        x
                    }
                };
                let all = [a, b, c].map(|x| flush(if magnitudes { x.abs() } else { x }));
                let numbers: Vec<f32> = all.into_iter().filter(|x| !x.is_nan()).collect();
                let found = match nan && numbers.len() < 3 || numbers.is_empty() {
                    true => f32::from_bits(0x7fff_ffff),
                    false => {
                        let mut ordered = numbers;
                        ordered.sort_by(f32::total_cmp);
                        ordered[if largest { ordered.len() - 1 } else { 0 }]
                    }
                };
                wanted.push(found.to_bits());
            }
        }
    }
    assert_eq!(run(&body, &vec![0; wanted.len()]), wanted);
}

#[test]
fn pairs_of_singles_are_computed_like_singles() {
    let pair = |[low, high]: [f32; 2]| u64::from(high.to_bits()) << 32 | u64::from(low.to_bits());
    let (a, b, c) = (
        [1.0f32 + f32::EPSILON, -3.25e10],
        [7.0f32, 1e-3],
        [-0.1f32, 1.0 / 3.0],
    );
    let body = format!(
        "mov.u64 %d3, {}; mov.u64 %d4, {}; mov.u64 %d5, {};
        add.f32x2 %d6, %d3, %d4; st.global.b64 [%d1], %d6; sub.rn.f32x2 %d6, %d3, %d4; st.global.b64 [%d1+8], %d6;
        mul.rz.ftz.f32x2 %d6, %d3, %d4; st.global.b64 [%d1+16], %d6; fma.rn.f32x2 %d6, %d3, %d4, %d5; st.global.b64 [%d1+24], %d6;",
        pair(a), pair(b), pair(c)
    );
    let towards_zero = |product: f64| {
        let nearest = product as f32;
        match f64::from(nearest).abs() > product.abs() {
            true => f32::from_bits(nearest.to_bits() - 1),
            false => nearest,
        }
    };
    let of = |f: &dyn Fn(usize) -> f32| [f(0).to_bits(), f(1).to_bits()];
    let wanted = [
        of(&|at| a[at] + b[at]),
        of(&|at| a[at] - b[at]),
        of(&|at| towards_zero(f64::from(a[at]) * f64::from(b[at]))),
        of(&|at| a[at].mul_add(b[at], c[at])),
    ];
    assert_eq!(run(&body, &[0; 8]), wanted.concat());
}

#[test]
fn singles_are_reduced_over_the_lanes_of_a_mask() {
    // Lanes 0 to 15 hold -1.5 times their number, the others a NaN in lane 20 among 2.0.
    let body = "cvt.rn.f32.u32 %r2, %r1; mul.f32 %r2, %r2, 0fBFC00000; setp.ge.u32 %p1, %r1, 16; @%p1 mov.b32 %r2, 0f40000000;
        setp.eq.u32 %p2, %r1, 20; @%p2 mov.b32 %r2, 0x7f800001; mov.u32 %r3, 0xffff; @%p1 mov.u32 %r3, 0xffff0000;
        redux.sync.min.f32 %r4, %r2, %r3; redux.sync.max.abs.f32 %r5, %r2, %r3; redux.sync.max.NaN.f32 %r6, %r2, %r3; redux.sync.min.abs.NaN.f32 %r7, %r2, %r3;
        shl.b32 %r8, 1, %r1; redux.sync.max.abs.f32 %r8, %r2, %r8;
        mul.wide.u32 %d3, %r1, 16; add.u64 %d2, %d2, %d3; st.global.b32 [%d2], %r4; st.global.b32 [%d2+4], %r5;
        st.global.b32 [%d2+8], %r6; st.global.b32 [%d2+12], %r7; st.global.b32 [%d2+16], %r8;";
    let found = run(body, &[0; 5 * 32 + 5]);
    let row = |lane: usize| [0, 1, 2, 3, 4].map(|at| f32::from_bits(found[5 * lane + at]));
    assert_eq!(row(3), [-22.5, 22.5, 0.0, 0.0, 4.5]);
    let upper = row(17);
    assert_eq!((upper[0], upper[1], upper[4]), (2.0, 2.0, 2.0));
    assert!(upper[2].is_nan() && upper[3].is_nan());
}

#[test]
fn a_cluster_is_a_block() {
    let body = "mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, s; mapa.shared::cluster.u32 %r4, %r3, 0; st.shared::cluster.u32 [%r4], 5;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ld.shared.u32 %r5, [%r3]; add.u32 %r5, %r5, %r2; st.global.u32 [%d2], %r5;";
    assert_eq!(run(body, &[0; 32]), [6; 32]);
}

#[test]
fn a_warp_that_waits_lets_the_others_have_their_turn() {
    // The first warp spins until the second one has stored: without turns the limit would be reached.
    let source = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %d<3>;
        ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @!%p1 bra S;
        W: nanosleep.u32 20; ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra W; ret;
        S: st.volatile.global.u32 [%d1], 1; ret; }";
    let module = load(source).unwrap();
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 4]);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [64, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let execution = execute(&module, &launch, &mut memory, &Options::default()).unwrap();
    assert!(
        execution.warp_instructions < 40,
        "{}",
        execution.warp_instructions
    );
}

#[test]
fn destinations_may_be_sources_too() {
    let words: Vec<u32> = (0..64).collect();
    // 16 x 8 bytes of a matrix by columns, 16 bytes apart; the stride's register is the first that is loaded.
    let body = "mov.u32 %r2, 16; wmma.load.b.sync.aligned.col.m8n32k16.u8 {%r2, %r3, %r4, %r5}, [%d1], %r2;
        wmma.load.b.sync.aligned.col.m8n32k16.u8 {%r6, %r7, %r8, %r9}, [%d1], 16;
        sub.u32 %r2, %r2, %r6; sub.u32 %r3, %r3, %r7; or.b32 %r2, %r2, %r3; st.global.u32 [%d2], %r2;";
    let mut longer = words.clone();
    longer.resize(128, 7);
    assert_eq!(run(body, &longer)[..32], [0; 32]);
    let body = "setp.eq.u32 %p1, %r1, %r1; mov.b32 %r2, 0x3c000000; mov.b32 %r3, 0x3c00; setp.lt.and.f16x2 %p1|%p2, %r3, %r2, %p1;
        selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; add.u32 %r4, %r4, %r5; st.global.u32 [%d2], %r4;";
    assert_eq!(run(body, &words)[..32], [2; 32]);
}

#[test]
fn a_barrier_for_all_threads_that_there_can_be_never_opens() {
    let stopped = run_in(&mut |_, _| {}, "bar.sync 0, -1;", &[0; 32]);
    assert!(matches!(cause(stopped), Cause::Deadlock { .. }));
}
