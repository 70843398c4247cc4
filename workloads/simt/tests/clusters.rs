//! Clusters: ranks, other CTAs' shared memory, barriers, copies to several CTAs, each against what a plain loop says.

use warpwatt_ptx::load;
use warpwatt_simt::trace::KernelTrace;
use warpwatt_simt::{DeviceMemory, ExecError, Launch, Options, Replay, execute};

const REGISTERS: &str = ".reg .pred %p<9>; .reg .b32 %r<49>; .reg .b64 %d<19>;";

/// A launch of a kernel with one buffer, whose address is in `%d0`; `%r0` is the thread and `%r1` the rank.
struct Run<'a> {
    body: &'a str,
    directives: &'a str,
    grid: [u32; 3],
    block: u32,
    cluster: Option<[u32; 3]>,
    words: usize,
}

impl Run<'_> {
    fn source(&self) -> String {
        format!(
            ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {}\n{{
            .shared .align 16 .b8 tile[256]; .shared .align 8 .b8 bar[8]; {REGISTERS}
            ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r0, 0;
{} ret; }}",
            self.directives, self.body
        )
    }

    fn execute(&self, options: &Options) -> Result<(Vec<u32>, Option<KernelTrace>), ExecError> {
        let module = load(&self.source()).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert_eq!(module.entries[0].unsupported, []);
        let mut memory = DeviceMemory::new(&module);
        let bytes = (0..self.words as u32).flat_map(u32::to_le_bytes);
        let address = memory.alloc("p", bytes.collect());
        let launch = Launch {
            entry: "k",
            grid: self.grid,
            block: [self.block, 1, 1],
            cluster: self.cluster,
            dynamic_shared: 0,
            params: address.to_le_bytes().to_vec(),
        };
        let done = execute(&module, &launch, &mut memory, options)?;
        let words = memory.buffer(address).chunks_exact(4);
        let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        Ok((words.collect(), done.trace))
    }

    fn words(&self) -> Vec<u32> {
        match self.execute(&Options::default()) {
            Ok((words, _)) => words,
            Err(error) => panic!("{error}"),
        }
    }

    fn refused(&self) -> String {
        match self.execute(&Options::default()) {
            Ok(_) => panic!("it ran"),
            Err(error) => error.to_string(),
        }
    }
}

/// Four CTAs in a row.
fn row<'a>(body: &'a str, block: u32, words: usize) -> Run<'a> {
    Run {
        body,
        directives: "",
        grid: [4, 1, 1],
        block,
        cluster: Some([4, 1, 1]),
        words,
    }
}

/// All threads of the cluster have come.
const MEET: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

/// `%d1` is the address of the word that the CTA's number in the grid, times `words`, names.
fn own_words(words: u32) -> String {
    format!(
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x; mad.lo.u32 %r2, %r3, %r4, %r2;
        mul.wide.u32 %d1, %r2, {}; add.u64 %d1, %d0, %d1;",
        4 * words
    )
}

#[test]
fn ranks_follow_the_place_in_the_cluster() {
    let named = [
        "%clusterid.x",
        "%clusterid.y",
        "%nclusterid.x",
        "%nclusterid.y",
        "%cluster_ctaid.x",
        "%cluster_ctaid.y",
        "%cluster_nctaid.x",
        "%cluster_nctaid.y",
        "%cluster_ctarank",
        "%cluster_nctarank",
    ];
    let mut body = own_words(11);
    for (at, name) in named.iter().enumerate() {
        body += &format!(
            "mov.u32 %r5, {name}; st.global.u32 [%d1+{}], %r5;\n",
            4 * at
        );
    }
    body +=
        "mov.pred %p1, %is_explicit_cluster; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%d1+40], %r5;";
    let mut run = Run {
        body: &body,
        directives: "",
        grid: [6, 4, 1],
        block: 1,
        cluster: Some([3, 2, 1]),
        words: 24 * 11,
    };
    let wanted = |x: u32, y: u32| {
        [
            x / 3,
            y / 2,
            2,
            2,
            x % 3,
            y % 2,
            3,
            2,
            y % 2 * 3 + x % 3,
            6,
            1,
        ]
    };
    let all = |wanted: &dyn Fn(u32, u32) -> [u32; 11]| -> Vec<u32> {
        let places = (0..4).flat_map(|y| (0..6).map(move |x| (x, y)));
        places.flat_map(|(x, y)| wanted(x, y)).collect()
    };
    assert_eq!(run.words(), all(&wanted));
    // What the entry says holds where the launch says nothing.
    run.cluster = None;
    run.directives = ".explicitcluster .reqnctapercluster 3, 2";
    assert_eq!(run.words(), all(&wanted));
    // Without either, each CTA is a cluster.
    run.directives = "";
    assert_eq!(run.words(), all(&|x, y| [x, y, 6, 4, 0, 0, 1, 1, 0, 1, 0]));
}

/// Each CTA reads its neighbour's tile, through an address of the cluster and through a generic one.
#[test]
fn loads_reach_the_other_ctas() {
    let body = format!(
        "{} mov.u32 %r10, tile; mad.lo.u32 %r11, %r2, 100, %r0; shl.b32 %r12, %r0, 2; add.u32 %r10, %r10, %r12; st.shared.u32 [%r10], %r11;
        {MEET}
        add.u32 %r13, %r1, 1; mov.u32 %r14, %cluster_nctarank; rem.u32 %r13, %r13, %r14;
        mapa.shared::cluster.u32 %r15, %r10, %r13; ld.shared::cluster.u32 %r16, [%r15];
        cvta.shared.u32 %r17, %r10; cvt.u64.u32 %d2, %r17; mapa.u64 %d3, %d2, %r13; ld.u32 %r18, [%d3];
        getctarank.shared::cluster.u32 %r19, %r15; getctarank.u64 %r20, %d3; getctarank.shared::cluster.u32 %r21, %r10;
        isspacep.shared::cluster %p3, %d3; selp.u32 %r22, 1, 0, %p3;
        shl.b32 %r12, %r0, 5; cvt.u64.u32 %d4, %r12; add.u64 %d1, %d1, %d4;
        st.global.v4.u32 [%d1], {{%r16, %r18, %r19, %r20}}; st.global.v2.u32 [%d1+16], {{%r21, %r22}}; {MEET}",
        own_words(8 * 33)
    );
    let run = Run {
        grid: [8, 1, 1],
        ..row(&body, 33, 8 * 8 * 33)
    };
    let found = run.words();
    for cta in 0..8u32 {
        let neighbour = cta / 4 * 4 + (cta + 1) % 4;
        for thread in 0..33 {
            let at = ((cta * 33 + thread) * 8) as usize;
            let value = neighbour * 100 + thread;
            let wanted = [value, value, neighbour % 4, neighbour % 4, cta % 4, 1];
            assert_eq!(found[at..at + 6], wanted, "{cta}, {thread}");
        }
    }
}

/// Lanes of one instruction reach different CTAs; stores, atomics and reductions do, too.
#[test]
fn stores_and_atomics_reach_the_other_ctas() {
    let body = format!(
        "{} and.b32 %r5, %r0, 3; mov.u32 %r10, tile; mapa.shared::cluster.u32 %r11, %r10, %r5;
        {MEET}
        atom.shared::cluster.add.u32 %r12, [%r11], %r0; red.shared::cluster.max.u32 [%r11+4], %r2;
        setp.lt.u32 %p1, %r0, 4; shl.b32 %r13, %r1, 2; add.u32 %r14, %r11, %r13; @%p1 st.shared::cluster.u32 [%r14+16], %r2;
        {MEET}
        setp.ge.u32 %p2, %r0, 8; @%p2 bra END; shl.b32 %r15, %r0, 2; add.u32 %r16, %r10, %r15; ld.shared.u32 %r17, [%r16];
        cvt.u64.u32 %d2, %r15; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r17;
        END:",
        own_words(8)
    );
    let found = row(&body, 40, 32).words();
    for cta in 0..4u32 {
        let sum: u32 = (0..40).filter(|thread| thread % 4 == cta).sum();
        let wanted = [4 * sum, 3, 0, 0, 0, 1, 2, 3];
        assert_eq!(found[8 * cta as usize..][..8], wanted, "{cta}");
    }
}

/// Who has arrived goes on; who waits does until all have arrived, not until all wait.
#[test]
fn arriving_is_not_waiting() {
    // Rank 0 waits at once and sets a flag behind the barrier, for which the others look between arriving and waiting.
    let body = "mov.u32 %r3, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHERS;
        barrier.cluster.arrive.release; barrier.cluster.wait.acquire; st.global.u32 [%d0], %r3; bra END;
        OTHERS: barrier.cluster.arrive; LOOK: ld.volatile.global.u32 %r2, [%d0]; setp.eq.u32 %p2, %r2, 0; @%p2 bra LOOK;
        mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1; st.global.u32 [%d1], %r2; barrier.cluster.wait;
        END:";
    assert_eq!(row(body, 64, 4).words(), [1; 4]);
}

/// Threads that have exited are not waited for, and lanes may come to the barrier on several paths.
#[test]
fn who_has_left_is_not_waited_for() {
    let body = format!(
        "setp.eq.u32 %p1, %r1, 2; @%p1 ret;
        setp.lt.u32 %p2, %r0, 5; @%p2 bra LOW; barrier.cluster.arrive; barrier.cluster.wait; bra ON;
        LOW: barrier.cluster.arrive; barrier.cluster.wait;
        ON: {} @%p0 st.global.u32 [%d1], 77;",
        own_words(1)
    )
    .replace("st.global.u32 [%d1], 77", "st.global.u32 [%d1], %r40")
    .replace("ON:", "ON: mov.u32 %r40, 77;");
    assert_eq!(row(&body, 32, 4).words(), [77, 77, 2, 77]);
}

/// All CTAs arrive at a barrier in the memory of one, which waits for bytes that they store, too.
#[test]
fn barriers_are_told_by_other_ctas() {
    let body = format!(
        "mov.u32 %r10, bar; setp.eq.u32 %p1, %r1, 3; and.pred %p2, %p0, %p1;
        @%p2 mbarrier.init.shared.b64 [bar], 4; @%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32; {MEET}
        mov.u32 %r5, 3; mapa.shared::cluster.u32 %r11, %r10, %r5; mov.u32 %r12, tile; mapa.shared::cluster.u32 %r13, %r12, %r5;
        shl.b32 %r14, %r1, 2; add.u32 %r15, %r13, %r14; add.u32 %r16, %r1, 50;
        @%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r15], %r16, [%r11];
        @%p0 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r13+16], %r16, [%r11];
        @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];
        @!%p1 bra END;
        W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0; @!%p3 bra W;
        setp.ge.u32 %p4, %r0, 5; @%p4 bra END; shl.b32 %r17, %r0, 2; add.u32 %r18, %r12, %r17; ld.shared.u32 %r19, [%r18];
        cvt.u64.u32 %d1, %r17; add.u64 %d1, %d0, %d1; st.global.u32 [%d1], %r19;
        END: {MEET}"
    );
    assert_eq!(row(&body, 32, 5).words(), [50, 51, 52, 53, 206]);
}

/// Products that end tell the barriers of the CTAs that a mask names.
#[test]
fn commits_reach_several_ctas() {
    let body = format!(
        ".reg .b16 %h<2>; @%p0 mbarrier.init.shared.b64 [bar], 1; {MEET}
        setp.eq.u32 %p1, %r1, 1; and.pred %p1, %p1, %p0; mov.u16 %h0, 11;
        @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %h0;
        setp.eq.u32 %p2, %r1, 2; @%p2 bra THEN;
        W: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra W;
        THEN: {MEET} {} mbarrier.test_wait.parity.shared.b64 %p4, [bar], 0; selp.u32 %r5, 1, 0, %p4; @%p0 st.global.u32 [%d1], %r5;",
        own_words(1)
    );
    assert_eq!(row(&body, 32, 4).words(), [1, 1, 0, 1]);
}

/// One CTA copies to those that a mask names, and a CTA copies its tile to another's.
#[test]
fn copies_reach_several_ctas() {
    let body = format!(
        "mov.u32 %r10, bar; mov.u32 %r12, tile; @%p0 mbarrier.init.shared.b64 [bar], 1; {MEET}
        setp.ne.u32 %p1, %r1, 1; and.pred %p2, %p0, %p1; @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
        setp.eq.u32 %p3, %r1, 0; and.pred %p3, %p3, %p0; mov.u16 %h0, 13;
        @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%d0], 64, [bar], %h0;
        @!%p1 bra NEXT; W: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0; @!%p4 bra W;
        NEXT: {MEET}
        setp.ne.u32 %p5, %r1, 2; @%p5 bra THEN; mov.u32 %r5, 1; mapa.shared::cluster.u32 %r13, %r12, %r5; mapa.shared::cluster.u32 %r14, %r10, %r5;
        add.u32 %r15, %r12, 16; @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r15], 32, [%r14];
        THEN: setp.ne.u32 %p6, %r1, 1; @%p6 bra OUT; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;
        V: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0; @!%p4 bra V;
        OUT: {MEET} {} shl.b32 %r17, %r0, 2; add.u32 %r18, %r12, %r17; ld.shared.u32 %r19, [%r18];
        cvt.u64.u32 %d2, %r17; add.u64 %d1, %d1, %d2; st.global.u32 [%d1+64], %r19;",
        own_words(16)
    );
    let body = format!(".reg .b16 %h<2>; {body}");
    let found = row(&body, 16, 80).words();
    let copied: Vec<u32> = (0..16).collect();
    let passed: Vec<u32> = (4..12).chain([0; 8]).collect();
    for cta in 0..4 {
        let wanted = if cta == 1 { &passed } else { &copied };
        assert_eq!(&found[16 + 16 * cta..][..16], wanted, "{cta}");
    }
}

/// CTAs stand in a trace in the order of the grid, whatever clusters they are of.
#[test]
fn traces_are_in_the_order_of_the_grid() {
    // CTA n counts to n.
    let body = format!(
        "{} mov.u32 %r5, 0; L: setp.ge.u32 %p1, %r5, %r2; @%p1 bra END; add.u32 %r5, %r5, 1; bra L; END: {MEET}",
        own_words(1)
    );
    let run = Run {
        body: &body,
        directives: "",
        grid: [4, 4, 1],
        block: 64,
        cluster: Some([2, 2, 1]),
        words: 16,
    };
    let (_, trace) = run.execute(&Options::default()).unwrap();
    let trace = trace.unwrap();
    let steps: Vec<u32> = (0..16).map(|cta| trace.steps(cta, 1)).collect();
    assert!(
        steps.windows(2).all(|pair| pair[1] == pair[0] + 4),
        "{steps:?}"
    );
}

#[test]
fn what_cannot_be_is_said() {
    let mut run = row("", 32, 1);
    run.grid = [6, 1, 1];
    assert!(
        run.refused()
            .contains("a grid of 6 x 1 x 1 CTAs is no multiple of clusters of 4 x 1 x 1")
    );
    run.grid = [32, 1, 1];
    run.cluster = Some([32, 1, 1]);
    assert!(
        run.refused()
            .contains("a cluster of 32 x 1 x 1 CTAs is not possible: 1 to 16 together")
    );
    run.directives = ".reqnctapercluster 2";
    run.cluster = Some([4, 1, 1]);
    assert!(
        run.refused()
            .contains("the entry requires 2 x 1 x 1 (`.reqnctapercluster`)")
    );

    let never =
        format!("setp.eq.u32 %p1, %r1, 1; @%p1 bra LOOP; {MEET} ret; LOOP: bar.sync 1, 64;");
    let told = row(&never, 32, 1).refused();
    assert!(
        told.contains("the barrier of the cluster at line 8 has 96 of 128 threads"),
        "{told}"
    );
    assert!(
        told.contains("deadlock: not all threads of the cluster"),
        "{told}"
    );

    let outside = "mov.u32 %r2, 7; mov.u32 %r3, tile; mapa.shared::cluster.u32 %r3, %r3, %r2; ld.shared::cluster.u32 %r4, [%r3];";
    let told = row(outside, 1, 1).refused();
    assert!(
        told.contains("byte 0 of the CTA of rank 7; the cluster has 4 CTAs"),
        "{told}"
    );

    let run = row(MEET, 32, 1);
    let races = Options {
        races: true,
        ..Options::default()
    };
    let told = run.execute(&races).unwrap_err().to_string();
    assert!(
        told.contains("races are not looked for in clusters of several CTAs"),
        "{told}"
    );
}

#[test]
fn ctas_of_clusters_are_not_executed_alone() {
    let run = row(MEET, 32, 1);
    let module = load(&run.source()).unwrap();
    let launch = Launch {
        entry: "k",
        grid: run.grid,
        block: [32, 1, 1],
        cluster: run.cluster,
        dynamic_shared: 0,
        params: vec![0; 8],
    };
    let told = Replay::new(&module, &launch, 32).err().unwrap().to_string();
    assert!(
        told.contains("executed in clusters, not one by one"),
        "{told}"
    );
}
