//! Every instruction of Southern Islands that computes, a row each: its format, its opcode, its name, and how many registers its operands take.
//!
//! The facts are those of AMD's public "Southern Islands Series Instruction Set Architecture".

/// Formats that have opcodes of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Scalar, two sources.
    Sop2,
    /// Scalar, a constant of 16 bits.
    Sopk,
    /// Scalar, one source.
    Sop1,
    /// Scalar comparison.
    Sopc,
    /// Program control.
    Sopp,
    /// Scalar memory read.
    Smrd,
    /// Vector, two sources; a long form is `Vop3`'s.
    Vop2,
    /// Vector, one source; a long form is `Vop3`'s.
    Vop1,
    /// Vector, three sources.
    Vop3,
    /// Local data share.
    Ds,
    /// Untyped buffer access.
    Mubuf,
    /// Typed buffer access.
    Mtbuf,
    /// Vector comparison; its opcodes are made of parts and have no rows.
    Vopc,
}

/// What the table says of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its format.
    pub form: Form,
    /// Its opcode in that format.
    pub code: u16,
    /// The same as a name.
    pub op: Op,
    /// Its mnemonic, without a suffix for the encoding.
    pub name: &'static str,
    /// 32-bit registers that the result takes, or the data of a buffer access.
    pub result: u8,
    /// 32-bit registers that each source takes; zero if there is none.
    pub sources: [u8; 3],
}

macro_rules! ops {
    ($($form:ident { $($code:literal $id:ident $name:literal $result:literal $sources:expr;)* })*) => {
        /// An instruction, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Op {
            $($(#[doc = concat!("`", $name, "`")] $id,)*)*
            /// `v_cmp_*` and its kin: the opcode says which.
            VCmp,
        }

        /// One row an operation, in the order of [`Op`].
        pub static ROWS: &[Row] = &[
            $($(Row { form: Form::$form, code: $code, op: Op::$id, name: $name, result: $result, sources: $sources },)*)*
            Row { form: Form::Vopc, code: 0, op: Op::VCmp, name: "v_cmp", result: 2, sources: [1, 1, 0] },
        ];
    };
}

ops! {
    Sop2 {
        0x000 SAddU32 "s_add_u32" 1 [1, 1, 0];
        0x001 SSubU32 "s_sub_u32" 1 [1, 1, 0];
        0x002 SAddI32 "s_add_i32" 1 [1, 1, 0];
        0x003 SSubI32 "s_sub_i32" 1 [1, 1, 0];
        0x004 SAddcU32 "s_addc_u32" 1 [1, 1, 0];
        0x005 SSubbU32 "s_subb_u32" 1 [1, 1, 0];
        0x006 SMinI32 "s_min_i32" 1 [1, 1, 0];
        0x007 SMinU32 "s_min_u32" 1 [1, 1, 0];
        0x008 SMaxI32 "s_max_i32" 1 [1, 1, 0];
        0x009 SMaxU32 "s_max_u32" 1 [1, 1, 0];
        0x00a SCselectB32 "s_cselect_b32" 1 [1, 1, 0];
        0x00b SCselectB64 "s_cselect_b64" 2 [2, 2, 0];
        0x00e SAndB32 "s_and_b32" 1 [1, 1, 0];
        0x00f SAndB64 "s_and_b64" 2 [2, 2, 0];
        0x010 SOrB32 "s_or_b32" 1 [1, 1, 0];
        0x011 SOrB64 "s_or_b64" 2 [2, 2, 0];
        0x012 SXorB32 "s_xor_b32" 1 [1, 1, 0];
        0x013 SXorB64 "s_xor_b64" 2 [2, 2, 0];
        0x014 SAndn2B32 "s_andn2_b32" 1 [1, 1, 0];
        0x015 SAndn2B64 "s_andn2_b64" 2 [2, 2, 0];
        0x016 SOrn2B32 "s_orn2_b32" 1 [1, 1, 0];
        0x017 SOrn2B64 "s_orn2_b64" 2 [2, 2, 0];
        0x018 SNandB32 "s_nand_b32" 1 [1, 1, 0];
        0x019 SNandB64 "s_nand_b64" 2 [2, 2, 0];
        0x01a SNorB32 "s_nor_b32" 1 [1, 1, 0];
        0x01b SNorB64 "s_nor_b64" 2 [2, 2, 0];
        0x01c SXnorB32 "s_xnor_b32" 1 [1, 1, 0];
        0x01d SXnorB64 "s_xnor_b64" 2 [2, 2, 0];
        0x01e SLshlB32 "s_lshl_b32" 1 [1, 1, 0];
        0x01f SLshlB64 "s_lshl_b64" 2 [2, 1, 0];
        0x020 SLshrB32 "s_lshr_b32" 1 [1, 1, 0];
        0x021 SLshrB64 "s_lshr_b64" 2 [2, 1, 0];
        0x022 SAshrI32 "s_ashr_i32" 1 [1, 1, 0];
        0x023 SAshrI64 "s_ashr_i64" 2 [2, 1, 0];
        0x024 SBfmB32 "s_bfm_b32" 1 [1, 1, 0];
        0x025 SBfmB64 "s_bfm_b64" 2 [1, 1, 0];
        0x026 SMulI32 "s_mul_i32" 1 [1, 1, 0];
        0x027 SBfeU32 "s_bfe_u32" 1 [1, 1, 0];
        0x028 SBfeI32 "s_bfe_i32" 1 [1, 1, 0];
        0x029 SBfeU64 "s_bfe_u64" 2 [2, 1, 0];
        0x02a SBfeI64 "s_bfe_i64" 2 [2, 1, 0];
        0x02b SCbranchGFork "s_cbranch_g_fork" 0 [2, 2, 0];
        0x02c SAbsdiffI32 "s_absdiff_i32" 1 [1, 1, 0];
    }
    Sopk {
        0x000 SMovkI32 "s_movk_i32" 1 [0, 0, 0];
        0x002 SCmovkI32 "s_cmovk_i32" 1 [0, 0, 0];
        0x003 SCmpkEqI32 "s_cmpk_eq_i32" 0 [1, 0, 0];
        0x004 SCmpkLgI32 "s_cmpk_lg_i32" 0 [1, 0, 0];
        0x005 SCmpkGtI32 "s_cmpk_gt_i32" 0 [1, 0, 0];
        0x006 SCmpkGeI32 "s_cmpk_ge_i32" 0 [1, 0, 0];
        0x007 SCmpkLtI32 "s_cmpk_lt_i32" 0 [1, 0, 0];
        0x008 SCmpkLeI32 "s_cmpk_le_i32" 0 [1, 0, 0];
        0x009 SCmpkEqU32 "s_cmpk_eq_u32" 0 [1, 0, 0];
        0x00a SCmpkLgU32 "s_cmpk_lg_u32" 0 [1, 0, 0];
        0x00b SCmpkGtU32 "s_cmpk_gt_u32" 0 [1, 0, 0];
        0x00c SCmpkGeU32 "s_cmpk_ge_u32" 0 [1, 0, 0];
        0x00d SCmpkLtU32 "s_cmpk_lt_u32" 0 [1, 0, 0];
        0x00e SCmpkLeU32 "s_cmpk_le_u32" 0 [1, 0, 0];
        0x00f SAddkI32 "s_addk_i32" 1 [1, 0, 0];
        0x010 SMulkI32 "s_mulk_i32" 1 [1, 0, 0];
        0x011 SCbranchIFork "s_cbranch_i_fork" 0 [2, 0, 0];
        0x012 SGetregB32 "s_getreg_b32" 1 [0, 0, 0];
        0x013 SSetregB32 "s_setreg_b32" 0 [1, 0, 0];
        0x015 SSetregImm32B32 "s_setreg_imm32_b32" 0 [0, 0, 0];
    }
    Sop1 {
        0x003 SMovB32 "s_mov_b32" 1 [1, 0, 0];
        0x004 SMovB64 "s_mov_b64" 2 [2, 0, 0];
        0x005 SCmovB32 "s_cmov_b32" 1 [1, 0, 0];
        0x006 SCmovB64 "s_cmov_b64" 2 [2, 0, 0];
        0x007 SNotB32 "s_not_b32" 1 [1, 0, 0];
        0x008 SNotB64 "s_not_b64" 2 [2, 0, 0];
        0x009 SWqmB32 "s_wqm_b32" 1 [1, 0, 0];
        0x00a SWqmB64 "s_wqm_b64" 2 [2, 0, 0];
        0x00b SBrevB32 "s_brev_b32" 1 [1, 0, 0];
        0x00c SBrevB64 "s_brev_b64" 2 [2, 0, 0];
        0x00d SBcnt0I32B32 "s_bcnt0_i32_b32" 1 [1, 0, 0];
        0x00e SBcnt0I32B64 "s_bcnt0_i32_b64" 1 [2, 0, 0];
        0x00f SBcnt1I32B32 "s_bcnt1_i32_b32" 1 [1, 0, 0];
        0x010 SBcnt1I32B64 "s_bcnt1_i32_b64" 1 [2, 0, 0];
        0x011 SFf0I32B32 "s_ff0_i32_b32" 1 [1, 0, 0];
        0x012 SFf0I32B64 "s_ff0_i32_b64" 1 [2, 0, 0];
        0x013 SFf1I32B32 "s_ff1_i32_b32" 1 [1, 0, 0];
        0x014 SFf1I32B64 "s_ff1_i32_b64" 1 [2, 0, 0];
        0x015 SFlbitI32B32 "s_flbit_i32_b32" 1 [1, 0, 0];
        0x016 SFlbitI32B64 "s_flbit_i32_b64" 1 [2, 0, 0];
        0x017 SFlbitI32 "s_flbit_i32" 1 [1, 0, 0];
        0x018 SFlbitI32I64 "s_flbit_i32_i64" 1 [2, 0, 0];
        0x019 SSextI32I8 "s_sext_i32_i8" 1 [1, 0, 0];
        0x01a SSextI32I16 "s_sext_i32_i16" 1 [1, 0, 0];
        0x01b SBitset0B32 "s_bitset0_b32" 1 [1, 0, 0];
        0x01c SBitset0B64 "s_bitset0_b64" 2 [1, 0, 0];
        0x01d SBitset1B32 "s_bitset1_b32" 1 [1, 0, 0];
        0x01e SBitset1B64 "s_bitset1_b64" 2 [1, 0, 0];
        0x01f SGetpcB64 "s_getpc_b64" 2 [0, 0, 0];
        0x020 SSetpcB64 "s_setpc_b64" 0 [2, 0, 0];
        0x021 SSwappcB64 "s_swappc_b64" 2 [2, 0, 0];
        0x022 SRfeB64 "s_rfe_b64" 0 [2, 0, 0];
        0x024 SAndSaveexecB64 "s_and_saveexec_b64" 2 [2, 0, 0];
        0x025 SOrSaveexecB64 "s_or_saveexec_b64" 2 [2, 0, 0];
        0x026 SXorSaveexecB64 "s_xor_saveexec_b64" 2 [2, 0, 0];
        0x027 SAndn2SaveexecB64 "s_andn2_saveexec_b64" 2 [2, 0, 0];
        0x028 SOrn2SaveexecB64 "s_orn2_saveexec_b64" 2 [2, 0, 0];
        0x029 SNandSaveexecB64 "s_nand_saveexec_b64" 2 [2, 0, 0];
        0x02a SNorSaveexecB64 "s_nor_saveexec_b64" 2 [2, 0, 0];
        0x02b SXnorSaveexecB64 "s_xnor_saveexec_b64" 2 [2, 0, 0];
        0x02c SQuadmaskB32 "s_quadmask_b32" 1 [1, 0, 0];
        0x02d SQuadmaskB64 "s_quadmask_b64" 2 [2, 0, 0];
        0x02e SMovrelsB32 "s_movrels_b32" 1 [1, 0, 0];
        0x02f SMovrelsB64 "s_movrels_b64" 2 [2, 0, 0];
        0x030 SMovreldB32 "s_movreld_b32" 1 [1, 0, 0];
        0x031 SMovreldB64 "s_movreld_b64" 2 [2, 0, 0];
        0x032 SCbranchJoin "s_cbranch_join" 0 [1, 0, 0];
        0x034 SAbsI32 "s_abs_i32" 1 [1, 0, 0];
    }
    Sopc {
        0x000 SCmpEqI32 "s_cmp_eq_i32" 0 [1, 1, 0];
        0x001 SCmpLgI32 "s_cmp_lg_i32" 0 [1, 1, 0];
        0x002 SCmpGtI32 "s_cmp_gt_i32" 0 [1, 1, 0];
        0x003 SCmpGeI32 "s_cmp_ge_i32" 0 [1, 1, 0];
        0x004 SCmpLtI32 "s_cmp_lt_i32" 0 [1, 1, 0];
        0x005 SCmpLeI32 "s_cmp_le_i32" 0 [1, 1, 0];
        0x006 SCmpEqU32 "s_cmp_eq_u32" 0 [1, 1, 0];
        0x007 SCmpLgU32 "s_cmp_lg_u32" 0 [1, 1, 0];
        0x008 SCmpGtU32 "s_cmp_gt_u32" 0 [1, 1, 0];
        0x009 SCmpGeU32 "s_cmp_ge_u32" 0 [1, 1, 0];
        0x00a SCmpLtU32 "s_cmp_lt_u32" 0 [1, 1, 0];
        0x00b SCmpLeU32 "s_cmp_le_u32" 0 [1, 1, 0];
        0x00c SBitcmp0B32 "s_bitcmp0_b32" 0 [1, 1, 0];
        0x00d SBitcmp1B32 "s_bitcmp1_b32" 0 [1, 1, 0];
        0x00e SBitcmp0B64 "s_bitcmp0_b64" 0 [2, 1, 0];
        0x00f SBitcmp1B64 "s_bitcmp1_b64" 0 [2, 1, 0];
        0x010 SSetvskip "s_setvskip" 0 [1, 1, 0];
    }
    Sopp {
        0x000 SNop "s_nop" 0 [0, 0, 0];
        0x001 SEndpgm "s_endpgm" 0 [0, 0, 0];
        0x002 SBranch "s_branch" 0 [0, 0, 0];
        0x004 SCbranchScc0 "s_cbranch_scc0" 0 [0, 0, 0];
        0x005 SCbranchScc1 "s_cbranch_scc1" 0 [0, 0, 0];
        0x006 SCbranchVccz "s_cbranch_vccz" 0 [0, 0, 0];
        0x007 SCbranchVccnz "s_cbranch_vccnz" 0 [0, 0, 0];
        0x008 SCbranchExecz "s_cbranch_execz" 0 [0, 0, 0];
        0x009 SCbranchExecnz "s_cbranch_execnz" 0 [0, 0, 0];
        0x00a SBarrier "s_barrier" 0 [0, 0, 0];
        0x00c SWaitcnt "s_waitcnt" 0 [0, 0, 0];
        0x00d SSethalt "s_sethalt" 0 [0, 0, 0];
        0x00e SSleep "s_sleep" 0 [0, 0, 0];
        0x00f SSetprio "s_setprio" 0 [0, 0, 0];
        0x010 SSendmsg "s_sendmsg" 0 [0, 0, 0];
        0x011 SSendmsghalt "s_sendmsghalt" 0 [0, 0, 0];
        0x012 STrap "s_trap" 0 [0, 0, 0];
        0x013 SIcacheInv "s_icache_inv" 0 [0, 0, 0];
        0x014 SIncperflevel "s_incperflevel" 0 [0, 0, 0];
        0x015 SDecperflevel "s_decperflevel" 0 [0, 0, 0];
        0x016 STtracedata "s_ttracedata" 0 [0, 0, 0];
    }
    Smrd {
        0x000 SLoadDword "s_load_dword" 1 [2, 1, 0];
        0x001 SLoadDwordx2 "s_load_dwordx2" 2 [2, 1, 0];
        0x002 SLoadDwordx4 "s_load_dwordx4" 4 [2, 1, 0];
        0x003 SLoadDwordx8 "s_load_dwordx8" 8 [2, 1, 0];
        0x004 SLoadDwordx16 "s_load_dwordx16" 16 [2, 1, 0];
        0x008 SBufferLoadDword "s_buffer_load_dword" 1 [4, 1, 0];
        0x009 SBufferLoadDwordx2 "s_buffer_load_dwordx2" 2 [4, 1, 0];
        0x00a SBufferLoadDwordx4 "s_buffer_load_dwordx4" 4 [4, 1, 0];
        0x00b SBufferLoadDwordx8 "s_buffer_load_dwordx8" 8 [4, 1, 0];
        0x00c SBufferLoadDwordx16 "s_buffer_load_dwordx16" 16 [4, 1, 0];
        0x01e SMemtime "s_memtime" 2 [0, 0, 0];
        0x01f SDcacheInv "s_dcache_inv" 0 [0, 0, 0];
    }
    Vop2 {
        0x000 VCndmaskB32 "v_cndmask_b32" 1 [1, 1, 2];
        0x001 VReadlaneB32 "v_readlane_b32" 1 [1, 1, 0];
        0x002 VWritelaneB32 "v_writelane_b32" 1 [1, 1, 0];
        0x003 VAddF32 "v_add_f32" 1 [1, 1, 0];
        0x004 VSubF32 "v_sub_f32" 1 [1, 1, 0];
        0x005 VSubrevF32 "v_subrev_f32" 1 [1, 1, 0];
        0x006 VMacLegacyF32 "v_mac_legacy_f32" 1 [1, 1, 0];
        0x007 VMulLegacyF32 "v_mul_legacy_f32" 1 [1, 1, 0];
        0x008 VMulF32 "v_mul_f32" 1 [1, 1, 0];
        0x009 VMulI32I24 "v_mul_i32_i24" 1 [1, 1, 0];
        0x00a VMulHiI32I24 "v_mul_hi_i32_i24" 1 [1, 1, 0];
        0x00b VMulU32U24 "v_mul_u32_u24" 1 [1, 1, 0];
        0x00c VMulHiU32U24 "v_mul_hi_u32_u24" 1 [1, 1, 0];
        0x00d VMinLegacyF32 "v_min_legacy_f32" 1 [1, 1, 0];
        0x00e VMaxLegacyF32 "v_max_legacy_f32" 1 [1, 1, 0];
        0x00f VMinF32 "v_min_f32" 1 [1, 1, 0];
        0x010 VMaxF32 "v_max_f32" 1 [1, 1, 0];
        0x011 VMinI32 "v_min_i32" 1 [1, 1, 0];
        0x012 VMaxI32 "v_max_i32" 1 [1, 1, 0];
        0x013 VMinU32 "v_min_u32" 1 [1, 1, 0];
        0x014 VMaxU32 "v_max_u32" 1 [1, 1, 0];
        0x015 VLshrB32 "v_lshr_b32" 1 [1, 1, 0];
        0x016 VLshrrevB32 "v_lshrrev_b32" 1 [1, 1, 0];
        0x017 VAshrI32 "v_ashr_i32" 1 [1, 1, 0];
        0x018 VAshrrevI32 "v_ashrrev_i32" 1 [1, 1, 0];
        0x019 VLshlB32 "v_lshl_b32" 1 [1, 1, 0];
        0x01a VLshlrevB32 "v_lshlrev_b32" 1 [1, 1, 0];
        0x01b VAndB32 "v_and_b32" 1 [1, 1, 0];
        0x01c VOrB32 "v_or_b32" 1 [1, 1, 0];
        0x01d VXorB32 "v_xor_b32" 1 [1, 1, 0];
        0x01e VBfmB32 "v_bfm_b32" 1 [1, 1, 0];
        0x01f VMacF32 "v_mac_f32" 1 [1, 1, 0];
        0x020 VMadmkF32 "v_madmk_f32" 1 [1, 1, 1];
        0x021 VMadakF32 "v_madak_f32" 1 [1, 1, 1];
        0x022 VBcntU32B32 "v_bcnt_u32_b32" 1 [1, 1, 0];
        0x023 VMbcntLoU32B32 "v_mbcnt_lo_u32_b32" 1 [1, 1, 0];
        0x024 VMbcntHiU32B32 "v_mbcnt_hi_u32_b32" 1 [1, 1, 0];
        0x025 VAddI32 "v_add_i32" 1 [1, 1, 0];
        0x026 VSubI32 "v_sub_i32" 1 [1, 1, 0];
        0x027 VSubrevI32 "v_subrev_i32" 1 [1, 1, 0];
        0x028 VAddcU32 "v_addc_u32" 1 [1, 1, 2];
        0x029 VSubbU32 "v_subb_u32" 1 [1, 1, 2];
        0x02a VSubbrevU32 "v_subbrev_u32" 1 [1, 1, 2];
        0x02b VLdexpF32 "v_ldexp_f32" 1 [1, 1, 0];
        0x02c VCvtPkaccumU8F32 "v_cvt_pkaccum_u8_f32" 1 [1, 1, 0];
        0x02d VCvtPknormI16F32 "v_cvt_pknorm_i16_f32" 1 [1, 1, 0];
        0x02e VCvtPknormU16F32 "v_cvt_pknorm_u16_f32" 1 [1, 1, 0];
        0x02f VCvtPkrtzF16F32 "v_cvt_pkrtz_f16_f32" 1 [1, 1, 0];
        0x030 VCvtPkU16U32 "v_cvt_pk_u16_u32" 1 [1, 1, 0];
        0x031 VCvtPkI16I32 "v_cvt_pk_i16_i32" 1 [1, 1, 0];
    }
    Vop1 {
        0x000 VNop "v_nop" 0 [0, 0, 0];
        0x001 VMovB32 "v_mov_b32" 1 [1, 0, 0];
        0x002 VReadfirstlaneB32 "v_readfirstlane_b32" 1 [1, 0, 0];
        0x003 VCvtI32F64 "v_cvt_i32_f64" 1 [2, 0, 0];
        0x004 VCvtF64I32 "v_cvt_f64_i32" 2 [1, 0, 0];
        0x005 VCvtF32I32 "v_cvt_f32_i32" 1 [1, 0, 0];
        0x006 VCvtF32U32 "v_cvt_f32_u32" 1 [1, 0, 0];
        0x007 VCvtU32F32 "v_cvt_u32_f32" 1 [1, 0, 0];
        0x008 VCvtI32F32 "v_cvt_i32_f32" 1 [1, 0, 0];
        0x00a VCvtF16F32 "v_cvt_f16_f32" 1 [1, 0, 0];
        0x00b VCvtF32F16 "v_cvt_f32_f16" 1 [1, 0, 0];
        0x00c VCvtRpiI32F32 "v_cvt_rpi_i32_f32" 1 [1, 0, 0];
        0x00d VCvtFlrI32F32 "v_cvt_flr_i32_f32" 1 [1, 0, 0];
        0x00e VCvtOffF32I4 "v_cvt_off_f32_i4" 1 [1, 0, 0];
        0x00f VCvtF32F64 "v_cvt_f32_f64" 1 [2, 0, 0];
        0x010 VCvtF64F32 "v_cvt_f64_f32" 2 [1, 0, 0];
        0x011 VCvtF32Ubyte0 "v_cvt_f32_ubyte0" 1 [1, 0, 0];
        0x012 VCvtF32Ubyte1 "v_cvt_f32_ubyte1" 1 [1, 0, 0];
        0x013 VCvtF32Ubyte2 "v_cvt_f32_ubyte2" 1 [1, 0, 0];
        0x014 VCvtF32Ubyte3 "v_cvt_f32_ubyte3" 1 [1, 0, 0];
        0x015 VCvtU32F64 "v_cvt_u32_f64" 1 [2, 0, 0];
        0x016 VCvtF64U32 "v_cvt_f64_u32" 2 [1, 0, 0];
        0x020 VFractF32 "v_fract_f32" 1 [1, 0, 0];
        0x021 VTruncF32 "v_trunc_f32" 1 [1, 0, 0];
        0x022 VCeilF32 "v_ceil_f32" 1 [1, 0, 0];
        0x023 VRndneF32 "v_rndne_f32" 1 [1, 0, 0];
        0x024 VFloorF32 "v_floor_f32" 1 [1, 0, 0];
        0x025 VExpF32 "v_exp_f32" 1 [1, 0, 0];
        0x026 VLogClampF32 "v_log_clamp_f32" 1 [1, 0, 0];
        0x027 VLogF32 "v_log_f32" 1 [1, 0, 0];
        0x028 VRcpClampF32 "v_rcp_clamp_f32" 1 [1, 0, 0];
        0x029 VRcpLegacyF32 "v_rcp_legacy_f32" 1 [1, 0, 0];
        0x02a VRcpF32 "v_rcp_f32" 1 [1, 0, 0];
        0x02b VRcpIflagF32 "v_rcp_iflag_f32" 1 [1, 0, 0];
        0x02c VRsqClampF32 "v_rsq_clamp_f32" 1 [1, 0, 0];
        0x02d VRsqLegacyF32 "v_rsq_legacy_f32" 1 [1, 0, 0];
        0x02e VRsqF32 "v_rsq_f32" 1 [1, 0, 0];
        0x02f VRcpF64 "v_rcp_f64" 2 [2, 0, 0];
        0x030 VRcpClampF64 "v_rcp_clamp_f64" 2 [2, 0, 0];
        0x031 VRsqF64 "v_rsq_f64" 2 [2, 0, 0];
        0x032 VRsqClampF64 "v_rsq_clamp_f64" 2 [2, 0, 0];
        0x033 VSqrtF32 "v_sqrt_f32" 1 [1, 0, 0];
        0x034 VSqrtF64 "v_sqrt_f64" 2 [2, 0, 0];
        0x035 VSinF32 "v_sin_f32" 1 [1, 0, 0];
        0x036 VCosF32 "v_cos_f32" 1 [1, 0, 0];
        0x037 VNotB32 "v_not_b32" 1 [1, 0, 0];
        0x038 VBfrevB32 "v_bfrev_b32" 1 [1, 0, 0];
        0x039 VFfbhU32 "v_ffbh_u32" 1 [1, 0, 0];
        0x03a VFfblB32 "v_ffbl_b32" 1 [1, 0, 0];
        0x03b VFfbhI32 "v_ffbh_i32" 1 [1, 0, 0];
        0x03c VFrexpExpI32F64 "v_frexp_exp_i32_f64" 1 [2, 0, 0];
        0x03d VFrexpMantF64 "v_frexp_mant_f64" 2 [2, 0, 0];
        0x03e VFractF64 "v_fract_f64" 2 [2, 0, 0];
        0x03f VFrexpExpI32F32 "v_frexp_exp_i32_f32" 1 [1, 0, 0];
        0x040 VFrexpMantF32 "v_frexp_mant_f32" 1 [1, 0, 0];
        0x041 VClrexcp "v_clrexcp" 0 [0, 0, 0];
        0x042 VMovreldB32 "v_movreld_b32" 1 [1, 0, 0];
        0x043 VMovrelsB32 "v_movrels_b32" 1 [1, 0, 0];
        0x044 VMovrelsdB32 "v_movrelsd_b32" 1 [1, 0, 0];
    }
    Vop3 {
        0x140 VMadLegacyF32 "v_mad_legacy_f32" 1 [1, 1, 1];
        0x141 VMadF32 "v_mad_f32" 1 [1, 1, 1];
        0x142 VMadI32I24 "v_mad_i32_i24" 1 [1, 1, 1];
        0x143 VMadU32U24 "v_mad_u32_u24" 1 [1, 1, 1];
        0x144 VCubeidF32 "v_cubeid_f32" 1 [1, 1, 1];
        0x145 VCubescF32 "v_cubesc_f32" 1 [1, 1, 1];
        0x146 VCubetcF32 "v_cubetc_f32" 1 [1, 1, 1];
        0x147 VCubemaF32 "v_cubema_f32" 1 [1, 1, 1];
        0x148 VBfeU32 "v_bfe_u32" 1 [1, 1, 1];
        0x149 VBfeI32 "v_bfe_i32" 1 [1, 1, 1];
        0x14a VBfiB32 "v_bfi_b32" 1 [1, 1, 1];
        0x14b VFmaF32 "v_fma_f32" 1 [1, 1, 1];
        0x14c VFmaF64 "v_fma_f64" 2 [2, 2, 2];
        0x14d VLerpU8 "v_lerp_u8" 1 [1, 1, 1];
        0x14e VAlignbitB32 "v_alignbit_b32" 1 [1, 1, 1];
        0x14f VAlignbyteB32 "v_alignbyte_b32" 1 [1, 1, 1];
        0x150 VMullitF32 "v_mullit_f32" 1 [1, 1, 1];
        0x151 VMin3F32 "v_min3_f32" 1 [1, 1, 1];
        0x152 VMin3I32 "v_min3_i32" 1 [1, 1, 1];
        0x153 VMin3U32 "v_min3_u32" 1 [1, 1, 1];
        0x154 VMax3F32 "v_max3_f32" 1 [1, 1, 1];
        0x155 VMax3I32 "v_max3_i32" 1 [1, 1, 1];
        0x156 VMax3U32 "v_max3_u32" 1 [1, 1, 1];
        0x157 VMed3F32 "v_med3_f32" 1 [1, 1, 1];
        0x158 VMed3I32 "v_med3_i32" 1 [1, 1, 1];
        0x159 VMed3U32 "v_med3_u32" 1 [1, 1, 1];
        0x15a VSadU8 "v_sad_u8" 1 [1, 1, 1];
        0x15b VSadHiU8 "v_sad_hi_u8" 1 [1, 1, 1];
        0x15c VSadU16 "v_sad_u16" 1 [1, 1, 1];
        0x15d VSadU32 "v_sad_u32" 1 [1, 1, 1];
        0x15e VCvtPkU8F32 "v_cvt_pk_u8_f32" 1 [1, 1, 1];
        0x15f VDivFixupF32 "v_div_fixup_f32" 1 [1, 1, 1];
        0x160 VDivFixupF64 "v_div_fixup_f64" 2 [2, 2, 2];
        0x161 VLshlB64 "v_lshl_b64" 2 [2, 1, 0];
        0x162 VLshrB64 "v_lshr_b64" 2 [2, 1, 0];
        0x163 VAshrI64 "v_ashr_i64" 2 [2, 1, 0];
        0x164 VAddF64 "v_add_f64" 2 [2, 2, 0];
        0x165 VMulF64 "v_mul_f64" 2 [2, 2, 0];
        0x166 VMinF64 "v_min_f64" 2 [2, 2, 0];
        0x167 VMaxF64 "v_max_f64" 2 [2, 2, 0];
        0x168 VLdexpF64 "v_ldexp_f64" 2 [2, 1, 0];
        0x169 VMulLoU32 "v_mul_lo_u32" 1 [1, 1, 0];
        0x16a VMulHiU32 "v_mul_hi_u32" 1 [1, 1, 0];
        0x16b VMulLoI32 "v_mul_lo_i32" 1 [1, 1, 0];
        0x16c VMulHiI32 "v_mul_hi_i32" 1 [1, 1, 0];
        0x16d VDivScaleF32 "v_div_scale_f32" 1 [1, 1, 1];
        0x16e VDivScaleF64 "v_div_scale_f64" 2 [2, 2, 2];
        0x16f VDivFmasF32 "v_div_fmas_f32" 1 [1, 1, 1];
        0x170 VDivFmasF64 "v_div_fmas_f64" 2 [2, 2, 2];
        0x171 VMsadU8 "v_msad_u8" 1 [1, 1, 1];
        0x173 VMqsadPkU16U8 "v_mqsad_pk_u16_u8" 2 [2, 1, 2];
        0x174 VTrigPreopF64 "v_trig_preop_f64" 2 [2, 1, 0];
    }
    Ds {
        0x000 DsAddU32 "ds_add_u32" 0 [1, 1, 0];
        0x001 DsSubU32 "ds_sub_u32" 0 [1, 1, 0];
        0x002 DsRsubU32 "ds_rsub_u32" 0 [1, 1, 0];
        0x003 DsIncU32 "ds_inc_u32" 0 [1, 1, 0];
        0x004 DsDecU32 "ds_dec_u32" 0 [1, 1, 0];
        0x005 DsMinI32 "ds_min_i32" 0 [1, 1, 0];
        0x006 DsMaxI32 "ds_max_i32" 0 [1, 1, 0];
        0x007 DsMinU32 "ds_min_u32" 0 [1, 1, 0];
        0x008 DsMaxU32 "ds_max_u32" 0 [1, 1, 0];
        0x009 DsAndB32 "ds_and_b32" 0 [1, 1, 0];
        0x00a DsOrB32 "ds_or_b32" 0 [1, 1, 0];
        0x00b DsXorB32 "ds_xor_b32" 0 [1, 1, 0];
        0x00c DsMskorB32 "ds_mskor_b32" 0 [1, 1, 1];
        0x00d DsWriteB32 "ds_write_b32" 0 [1, 1, 0];
        0x00e DsWrite2B32 "ds_write2_b32" 0 [1, 1, 1];
        0x00f DsWrite2st64B32 "ds_write2st64_b32" 0 [1, 1, 1];
        0x010 DsCmpstB32 "ds_cmpst_b32" 0 [1, 1, 1];
        0x011 DsCmpstF32 "ds_cmpst_f32" 0 [1, 1, 1];
        0x012 DsMinF32 "ds_min_f32" 0 [1, 1, 0];
        0x013 DsMaxF32 "ds_max_f32" 0 [1, 1, 0];
        0x019 DsGwsInit "ds_gws_init" 0 [1, 0, 0];
        0x01a DsGwsSemaV "ds_gws_sema_v" 0 [0, 0, 0];
        0x01b DsGwsSemaBr "ds_gws_sema_br" 0 [1, 0, 0];
        0x01c DsGwsSemaP "ds_gws_sema_p" 0 [0, 0, 0];
        0x01d DsGwsBarrier "ds_gws_barrier" 0 [1, 0, 0];
        0x01e DsWriteB8 "ds_write_b8" 0 [1, 1, 0];
        0x01f DsWriteB16 "ds_write_b16" 0 [1, 1, 0];
        0x020 DsAddRtnU32 "ds_add_rtn_u32" 1 [1, 1, 0];
        0x021 DsSubRtnU32 "ds_sub_rtn_u32" 1 [1, 1, 0];
        0x022 DsRsubRtnU32 "ds_rsub_rtn_u32" 1 [1, 1, 0];
        0x023 DsIncRtnU32 "ds_inc_rtn_u32" 1 [1, 1, 0];
        0x024 DsDecRtnU32 "ds_dec_rtn_u32" 1 [1, 1, 0];
        0x025 DsMinRtnI32 "ds_min_rtn_i32" 1 [1, 1, 0];
        0x026 DsMaxRtnI32 "ds_max_rtn_i32" 1 [1, 1, 0];
        0x027 DsMinRtnU32 "ds_min_rtn_u32" 1 [1, 1, 0];
        0x028 DsMaxRtnU32 "ds_max_rtn_u32" 1 [1, 1, 0];
        0x029 DsAndRtnB32 "ds_and_rtn_b32" 1 [1, 1, 0];
        0x02a DsOrRtnB32 "ds_or_rtn_b32" 1 [1, 1, 0];
        0x02b DsXorRtnB32 "ds_xor_rtn_b32" 1 [1, 1, 0];
        0x02c DsMskorRtnB32 "ds_mskor_rtn_b32" 1 [1, 1, 1];
        0x02d DsWrxchgRtnB32 "ds_wrxchg_rtn_b32" 1 [1, 1, 0];
        0x02e DsWrxchg2RtnB32 "ds_wrxchg2_rtn_b32" 2 [1, 1, 1];
        0x02f DsWrxchg2st64RtnB32 "ds_wrxchg2st64_rtn_b32" 2 [1, 1, 1];
        0x030 DsCmpstRtnB32 "ds_cmpst_rtn_b32" 1 [1, 1, 1];
        0x031 DsCmpstRtnF32 "ds_cmpst_rtn_f32" 1 [1, 1, 1];
        0x032 DsMinRtnF32 "ds_min_rtn_f32" 1 [1, 1, 0];
        0x033 DsMaxRtnF32 "ds_max_rtn_f32" 1 [1, 1, 0];
        0x035 DsSwizzleB32 "ds_swizzle_b32" 1 [1, 0, 0];
        0x036 DsReadB32 "ds_read_b32" 1 [1, 0, 0];
        0x037 DsRead2B32 "ds_read2_b32" 2 [1, 0, 0];
        0x038 DsRead2st64B32 "ds_read2st64_b32" 2 [1, 0, 0];
        0x039 DsReadI8 "ds_read_i8" 1 [1, 0, 0];
        0x03a DsReadU8 "ds_read_u8" 1 [1, 0, 0];
        0x03b DsReadI16 "ds_read_i16" 1 [1, 0, 0];
        0x03c DsReadU16 "ds_read_u16" 1 [1, 0, 0];
        0x03d DsConsume "ds_consume" 1 [0, 0, 0];
        0x03e DsAppend "ds_append" 1 [0, 0, 0];
        0x03f DsOrderedCount "ds_ordered_count" 1 [1, 0, 0];
        0x040 DsAddU64 "ds_add_u64" 0 [1, 2, 0];
        0x041 DsSubU64 "ds_sub_u64" 0 [1, 2, 0];
        0x042 DsRsubU64 "ds_rsub_u64" 0 [1, 2, 0];
        0x043 DsIncU64 "ds_inc_u64" 0 [1, 2, 0];
        0x044 DsDecU64 "ds_dec_u64" 0 [1, 2, 0];
        0x045 DsMinI64 "ds_min_i64" 0 [1, 2, 0];
        0x046 DsMaxI64 "ds_max_i64" 0 [1, 2, 0];
        0x047 DsMinU64 "ds_min_u64" 0 [1, 2, 0];
        0x048 DsMaxU64 "ds_max_u64" 0 [1, 2, 0];
        0x049 DsAndB64 "ds_and_b64" 0 [1, 2, 0];
        0x04a DsOrB64 "ds_or_b64" 0 [1, 2, 0];
        0x04b DsXorB64 "ds_xor_b64" 0 [1, 2, 0];
        0x04c DsMskorB64 "ds_mskor_b64" 0 [1, 2, 2];
        0x04d DsWriteB64 "ds_write_b64" 0 [1, 2, 0];
        0x04e DsWrite2B64 "ds_write2_b64" 0 [1, 2, 2];
        0x04f DsWrite2st64B64 "ds_write2st64_b64" 0 [1, 2, 2];
        0x050 DsCmpstB64 "ds_cmpst_b64" 0 [1, 2, 2];
        0x051 DsCmpstF64 "ds_cmpst_f64" 0 [1, 2, 2];
        0x052 DsMinF64 "ds_min_f64" 0 [1, 2, 0];
        0x053 DsMaxF64 "ds_max_f64" 0 [1, 2, 0];
        0x060 DsAddRtnU64 "ds_add_rtn_u64" 2 [1, 2, 0];
        0x061 DsSubRtnU64 "ds_sub_rtn_u64" 2 [1, 2, 0];
        0x062 DsRsubRtnU64 "ds_rsub_rtn_u64" 2 [1, 2, 0];
        0x063 DsIncRtnU64 "ds_inc_rtn_u64" 2 [1, 2, 0];
        0x064 DsDecRtnU64 "ds_dec_rtn_u64" 2 [1, 2, 0];
        0x065 DsMinRtnI64 "ds_min_rtn_i64" 2 [1, 2, 0];
        0x066 DsMaxRtnI64 "ds_max_rtn_i64" 2 [1, 2, 0];
        0x067 DsMinRtnU64 "ds_min_rtn_u64" 2 [1, 2, 0];
        0x068 DsMaxRtnU64 "ds_max_rtn_u64" 2 [1, 2, 0];
        0x069 DsAndRtnB64 "ds_and_rtn_b64" 2 [1, 2, 0];
        0x06a DsOrRtnB64 "ds_or_rtn_b64" 2 [1, 2, 0];
        0x06b DsXorRtnB64 "ds_xor_rtn_b64" 2 [1, 2, 0];
        0x06c DsMskorRtnB64 "ds_mskor_rtn_b64" 2 [1, 2, 2];
        0x06d DsWrxchgRtnB64 "ds_wrxchg_rtn_b64" 2 [1, 2, 0];
        0x06e DsWrxchg2RtnB64 "ds_wrxchg2_rtn_b64" 4 [1, 2, 2];
        0x06f DsWrxchg2st64RtnB64 "ds_wrxchg2st64_rtn_b64" 4 [1, 2, 2];
        0x070 DsCmpstRtnB64 "ds_cmpst_rtn_b64" 2 [1, 2, 2];
        0x071 DsCmpstRtnF64 "ds_cmpst_rtn_f64" 2 [1, 2, 2];
        0x072 DsMinRtnF64 "ds_min_rtn_f64" 2 [1, 2, 0];
        0x073 DsMaxRtnF64 "ds_max_rtn_f64" 2 [1, 2, 0];
        0x076 DsReadB64 "ds_read_b64" 2 [1, 0, 0];
        0x077 DsRead2B64 "ds_read2_b64" 4 [1, 0, 0];
        0x078 DsRead2st64B64 "ds_read2st64_b64" 4 [1, 0, 0];
    }
    Mubuf {
        0x000 BufferLoadFormatX "buffer_load_format_x" 1 [0, 4, 1];
        0x001 BufferLoadFormatXy "buffer_load_format_xy" 2 [0, 4, 1];
        0x002 BufferLoadFormatXyz "buffer_load_format_xyz" 3 [0, 4, 1];
        0x003 BufferLoadFormatXyzw "buffer_load_format_xyzw" 4 [0, 4, 1];
        0x004 BufferStoreFormatX "buffer_store_format_x" 1 [0, 4, 1];
        0x005 BufferStoreFormatXy "buffer_store_format_xy" 2 [0, 4, 1];
        0x006 BufferStoreFormatXyz "buffer_store_format_xyz" 3 [0, 4, 1];
        0x007 BufferStoreFormatXyzw "buffer_store_format_xyzw" 4 [0, 4, 1];
        0x008 BufferLoadUbyte "buffer_load_ubyte" 1 [0, 4, 1];
        0x009 BufferLoadSbyte "buffer_load_sbyte" 1 [0, 4, 1];
        0x00a BufferLoadUshort "buffer_load_ushort" 1 [0, 4, 1];
        0x00b BufferLoadSshort "buffer_load_sshort" 1 [0, 4, 1];
        0x00c BufferLoadDword "buffer_load_dword" 1 [0, 4, 1];
        0x00d BufferLoadDwordx2 "buffer_load_dwordx2" 2 [0, 4, 1];
        0x00e BufferLoadDwordx4 "buffer_load_dwordx4" 4 [0, 4, 1];
        0x018 BufferStoreByte "buffer_store_byte" 1 [0, 4, 1];
        0x01a BufferStoreShort "buffer_store_short" 1 [0, 4, 1];
        0x01c BufferStoreDword "buffer_store_dword" 1 [0, 4, 1];
        0x01d BufferStoreDwordx2 "buffer_store_dwordx2" 2 [0, 4, 1];
        0x01e BufferStoreDwordx4 "buffer_store_dwordx4" 4 [0, 4, 1];
        0x030 BufferAtomicSwap "buffer_atomic_swap" 1 [0, 4, 1];
        0x031 BufferAtomicCmpswap "buffer_atomic_cmpswap" 2 [0, 4, 1];
        0x032 BufferAtomicAdd "buffer_atomic_add" 1 [0, 4, 1];
        0x033 BufferAtomicSub "buffer_atomic_sub" 1 [0, 4, 1];
        0x035 BufferAtomicSmin "buffer_atomic_smin" 1 [0, 4, 1];
        0x036 BufferAtomicUmin "buffer_atomic_umin" 1 [0, 4, 1];
        0x037 BufferAtomicSmax "buffer_atomic_smax" 1 [0, 4, 1];
        0x038 BufferAtomicUmax "buffer_atomic_umax" 1 [0, 4, 1];
        0x039 BufferAtomicAnd "buffer_atomic_and" 1 [0, 4, 1];
        0x03a BufferAtomicOr "buffer_atomic_or" 1 [0, 4, 1];
        0x03b BufferAtomicXor "buffer_atomic_xor" 1 [0, 4, 1];
        0x03c BufferAtomicInc "buffer_atomic_inc" 1 [0, 4, 1];
        0x03d BufferAtomicDec "buffer_atomic_dec" 1 [0, 4, 1];
        0x03e BufferAtomicFcmpswap "buffer_atomic_fcmpswap" 2 [0, 4, 1];
        0x03f BufferAtomicFmin "buffer_atomic_fmin" 1 [0, 4, 1];
        0x040 BufferAtomicFmax "buffer_atomic_fmax" 1 [0, 4, 1];
        0x050 BufferAtomicSwapX2 "buffer_atomic_swap_x2" 2 [0, 4, 1];
        0x051 BufferAtomicCmpswapX2 "buffer_atomic_cmpswap_x2" 4 [0, 4, 1];
        0x052 BufferAtomicAddX2 "buffer_atomic_add_x2" 2 [0, 4, 1];
        0x053 BufferAtomicSubX2 "buffer_atomic_sub_x2" 2 [0, 4, 1];
        0x055 BufferAtomicSminX2 "buffer_atomic_smin_x2" 2 [0, 4, 1];
        0x056 BufferAtomicUminX2 "buffer_atomic_umin_x2" 2 [0, 4, 1];
        0x057 BufferAtomicSmaxX2 "buffer_atomic_smax_x2" 2 [0, 4, 1];
        0x058 BufferAtomicUmaxX2 "buffer_atomic_umax_x2" 2 [0, 4, 1];
        0x059 BufferAtomicAndX2 "buffer_atomic_and_x2" 2 [0, 4, 1];
        0x05a BufferAtomicOrX2 "buffer_atomic_or_x2" 2 [0, 4, 1];
        0x05b BufferAtomicXorX2 "buffer_atomic_xor_x2" 2 [0, 4, 1];
        0x05c BufferAtomicIncX2 "buffer_atomic_inc_x2" 2 [0, 4, 1];
        0x05d BufferAtomicDecX2 "buffer_atomic_dec_x2" 2 [0, 4, 1];
        0x05e BufferAtomicFcmpswapX2 "buffer_atomic_fcmpswap_x2" 4 [0, 4, 1];
        0x05f BufferAtomicFminX2 "buffer_atomic_fmin_x2" 2 [0, 4, 1];
        0x060 BufferAtomicFmaxX2 "buffer_atomic_fmax_x2" 2 [0, 4, 1];
        0x070 BufferWbinvl1Sc "buffer_wbinvl1_sc" 0 [0, 0, 0];
        0x071 BufferWbinvl1 "buffer_wbinvl1" 0 [0, 0, 0];
    }
    Mtbuf {
        0x000 TbufferLoadFormatX "tbuffer_load_format_x" 1 [0, 4, 1];
        0x001 TbufferLoadFormatXy "tbuffer_load_format_xy" 2 [0, 4, 1];
        0x002 TbufferLoadFormatXyz "tbuffer_load_format_xyz" 3 [0, 4, 1];
        0x003 TbufferLoadFormatXyzw "tbuffer_load_format_xyzw" 4 [0, 4, 1];
        0x004 TbufferStoreFormatX "tbuffer_store_format_x" 1 [0, 4, 1];
        0x005 TbufferStoreFormatXy "tbuffer_store_format_xy" 2 [0, 4, 1];
        0x006 TbufferStoreFormatXyz "tbuffer_store_format_xyz" 3 [0, 4, 1];
        0x007 TbufferStoreFormatXyzw "tbuffer_store_format_xyzw" 4 [0, 4, 1];
    }
}

/// Opcodes that a format can name at the most.
const CODES: usize = 512;

/// Formats with rows in the table.
const FORMS: usize = Form::Vopc as usize;

/// For each format and opcode one more than the row; zero where there is none.
static INDEX: [[u16; CODES]; FORMS] = index();

const fn index() -> [[u16; CODES]; FORMS] {
    let mut index = [[0; CODES]; FORMS];
    let mut row = 0;
    while row + 1 < ROWS.len() {
        index[ROWS[row].form as usize][ROWS[row].code as usize] = row as u16 + 1;
        row += 1;
    }
    index
}

impl Op {
    /// The operation of an opcode, if the format has one.
    pub fn find(form: Form, code: u16) -> Option<Self> {
        let row = INDEX.get(form as usize)?.get(usize::from(code))?;
        Some(ROWS[usize::from(row.checked_sub(1)?)].op)
    }

    /// What the table says of it.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}
