//! Functions that are not built. A program finds them, is answered `cudaErrorNotSupported`, and its user is told once which one it was.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::channel::say;
use crate::error::Code;
use crate::gpu::answer;

/// Functions that were asked for.
static ASKED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

fn refuse(name: &'static str) -> i32 {
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if asked.insert(name) {
        say(&format!("{name} is not supported"));
    }
    drop(asked);
    answer(|_| Err(Code::NOT_SUPPORTED))
}

macro_rules! unsupported {
    ($($name:ident)*) => {
        /// Their names.
        pub const UNSUPPORTED: &[&str] = &[$(stringify!($name)),*];
        $(
            #[doc = concat!("`", stringify!($name), "` of CUDA's runtime, which is not supported.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> i32 {
                refuse(stringify!($name))
            }
        )*
    };
}

unsupported! {
    __cudaGetProcAddress cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties cudaBindSurfaceToArray cudaBindTexture
    cudaBindTexture2D cudaBindTextureToArray cudaBindTextureToMipmappedArray cudaDestroyExternalMemory cudaDestroyExternalSemaphore
    cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount cudaDeviceGetDevResource cudaDeviceGetExecutionCtx
    cudaDeviceGetGraphMemAttribute cudaDeviceGetHostAtomicCapabilities cudaDeviceGetNvSciSyncAttributes cudaDeviceGetP2PAtomicCapabilities
    cudaDeviceGetTexture1DLinearMaxWidth cudaDeviceRegisterAsyncNotification cudaDeviceSetGraphMemAttribute cudaDeviceUnregisterAsyncNotification
    cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect
    cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync cudaEventRecordWithFlags_ptsz cudaExecutionCtxDestroy cudaExecutionCtxGetDevResource
    cudaExecutionCtxGetDevice cudaExecutionCtxGetId cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize
    cudaExecutionCtxWaitEvent cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray cudaFreeMipmappedArray cudaGLGetDevices
    cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice
    cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync cudaGLUnregisterBufferObject cudaGetDriverEntryPointByVersion_ptsz
    cudaGetDriverEntryPoint_ptsz cudaGetExportTable cudaGetMipmappedArrayLevel cudaGetSurfaceObjectResourceDesc cudaGetSurfaceReference
    cudaGetTextureAlignmentOffset cudaGetTextureObjectResourceViewDesc cudaGetTextureObjectTextureDesc cudaGetTextureReference
    cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode cudaGraphAddMemcpyNodeFromSymbol cudaGraphAddMemcpyNodeToSymbol
    cudaGraphAddNode cudaGraphChildGraphNodeGetGraph cudaGraphConditionalHandleCreate cudaGraphConditionalHandleCreate_v2 cudaGraphDestroyNode
    cudaGraphEventRecordNodeGetEvent cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent
    cudaGraphExecChildGraphNodeSetParams cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
    cudaGraphExecExternalSemaphoresSignalNodeSetParams cudaGraphExecExternalSemaphoresWaitNodeSetParams cudaGraphExecGetFlags cudaGraphExecGetId
    cudaGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol cudaGraphExecNodeSetParams
    cudaGraphExternalSemaphoresSignalNodeGetParams cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
    cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphGetEdges cudaGraphGetId cudaGraphHostNodeGetParams cudaGraphInstantiateWithParams_ptsz
    cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeGetParams cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams
    cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams cudaGraphMemcpyNodeSetParams1D cudaGraphMemcpyNodeSetParamsFromSymbol
    cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphMemsetNodeGetParams cudaGraphNodeFindInClone cudaGraphNodeGetContainingGraph
    cudaGraphNodeGetDependencies cudaGraphNodeGetDependentNodes cudaGraphNodeGetEnabled cudaGraphNodeGetLocalId cudaGraphNodeGetParams
    cudaGraphNodeGetToolsId cudaGraphNodeSetEnabled cudaGraphNodeSetParams cudaGraphReleaseUserObject cudaGraphRemoveDependencies
    cudaGraphRetainUserObject cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage cudaGraphicsMapResources
    cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray cudaGraphicsResourceGetMappedPointer
    cudaGraphicsResourceSetMapFlags cudaGraphicsSubResourceGetMappedArray cudaGraphicsUnmapResources cudaGraphicsUnregisterResource
    cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface cudaGreenCtxCreate cudaImportExternalMemory
    cudaImportExternalSemaphore cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle cudaIpcOpenEventHandle cudaIpcOpenMemHandle
    cudaLaunchCooperativeKernelMultiDevice cudaLaunchHostFunc_v2 cudaLaunchHostFunc_v2_ptsz cudaLibraryGetManaged cudaLibraryGetUnifiedFunction
    cudaLogsCurrent cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback cudaMallocFromPoolAsync_ptsz
    cudaMallocMipmappedArray cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemDiscardBatchAsync
    cudaMemDiscardBatchAsync_ptsz cudaMemGetDefaultMemPool cudaMemGetLocationInfo cudaMemGetMemPool cudaMemPoolExportPointer
    cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer cudaMemPrefetchBatchAsync
    cudaMemPrefetchBatchAsync_ptsz cudaMemRangeGetAttribute cudaMemRangeGetAttributes cudaMemSetMemPool cudaMemcpy2DArrayToArray
    cudaMemcpy2DArrayToArray_ptds cudaMemcpy2DAsync_ptsz cudaMemcpy2DFromArrayAsync_ptsz cudaMemcpy2DFromArray_ptds cudaMemcpy2DToArrayAsync_ptsz
    cudaMemcpy2DToArray_ptds cudaMemcpy2D_ptds cudaMemcpy3DAsync_ptsz cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz cudaMemcpy3DPeer
    cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz cudaMemcpy3DPeer_ptds cudaMemcpy3DWithAttributesAsync cudaMemcpy3DWithAttributesAsync_ptsz
    cudaMemcpy3D_ptds cudaMemcpyArrayToArray cudaMemcpyArrayToArray_ptds cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz cudaMemcpyFromArrayAsync
    cudaMemcpyFromArrayAsync_ptsz cudaMemcpyFromArray_ptds cudaMemcpyFromSymbolAsync_ptsz cudaMemcpyToArrayAsync cudaMemcpyToArrayAsync_ptsz
    cudaMemcpyToArray_ptds cudaMemcpyToSymbolAsync_ptsz cudaMemcpyWithAttributesAsync cudaMemcpyWithAttributesAsync_ptsz cudaMemset2DAsync_ptsz
    cudaMemset2D_ptds cudaMemset3DAsync_ptsz cudaMemset3D_ptds cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties
    cudaSignalExternalSemaphoresAsync cudaSignalExternalSemaphoresAsync_ptsz cudaStreamAddCallback_ptsz cudaStreamBeginCaptureToGraph
    cudaStreamBeginCaptureToGraph_ptsz cudaStreamBeginCapture_ptsz cudaStreamBeginRecaptureToGraph cudaStreamBeginRecaptureToGraph_ptsz
    cudaStreamCopyAttributes_ptsz cudaStreamEndCapture_ptsz cudaStreamGetAttribute_ptsz cudaStreamGetCaptureInfo_ptsz cudaStreamGetDevResource
    cudaStreamGetDevResource_ptsz cudaStreamGetDevice_ptsz cudaStreamGetFlags_ptsz cudaStreamGetId_ptsz cudaStreamGetPriority_ptsz
    cudaStreamIsCapturing_ptsz cudaStreamQuery_ptsz cudaStreamSetAttribute_ptsz cudaStreamUpdateCaptureDependencies
    cudaStreamUpdateCaptureDependencies_ptsz cudaSubgridCreate cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate cudaUnbindTexture
    cudaUserObjectCreate cudaUserObjectRelease cudaUserObjectRetain cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice cudaWaitExternalSemaphoresAsync
    cudaWaitExternalSemaphoresAsync_ptsz
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_answer_that_they_are_not_supported() {
        assert_eq!(Code(cudaIpcGetMemHandle()), Code::NOT_SUPPORTED);
    }
}
