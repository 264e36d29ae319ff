//! The requests that are answered at once, by method.

use lsp_server::{ErrorCode, Request, ResponseError};
use lsp_types::WorkspaceSymbolResponse;
use lsp_types::request::{
    CodeActionRequest, CodeLensRequest, Completion, DocumentHighlightRequest,
    DocumentSymbolRequest, FoldingRangeRequest, Formatting, GotoDefinition, InlayHintRequest,
    PrepareRenameRequest, RangeFormatting, References, Rename, Request as Kind,
    SelectionRangeRequest, SemanticTokensFullRequest, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use serde_json::Value;

use crate::answer::{Answer, Refusal};
use crate::world::World;
use crate::{
    actions, completion, folding, hints, layout, lenses, navigation, rename, signature, symbols,
    tokens,
};

/// The result of a request in the form of the protocol.
pub(crate) type Reply = Result<Value, ResponseError>;

/// The answer to a request.
pub(crate) fn reply(world: &mut World, request: &Request) -> Reply {
    match &*request.method {
        Completion::METHOD => on::<Completion>(request, |p| Ok(completion::completion(world, p))),
        SignatureHelpRequest::METHOD => {
            on::<SignatureHelpRequest>(request, |p| Ok(signature::signature(world, p)))
        }
        GotoDefinition::METHOD => {
            on::<GotoDefinition>(request, |p| Ok(navigation::definition(world, p)))
        }
        References::METHOD => on::<References>(request, |p| Ok(navigation::references(world, p))),
        DocumentHighlightRequest::METHOD => {
            on::<DocumentHighlightRequest>(request, |p| Ok(navigation::highlights(world, p)))
        }
        PrepareRenameRequest::METHOD => {
            on::<PrepareRenameRequest>(request, |p| rename::prepare(world, p))
        }
        Rename::METHOD => on::<Rename>(request, |p| rename::rename(world, p)),
        DocumentSymbolRequest::METHOD => {
            on::<DocumentSymbolRequest>(request, |p| Ok(symbols::document(world, p)))
        }
        WorkspaceSymbolRequest::METHOD => on::<WorkspaceSymbolRequest>(request, |p| {
            Ok(Some(WorkspaceSymbolResponse::Flat(symbols::workspace(world, p))))
        }),
        CodeActionRequest::METHOD => {
            on::<CodeActionRequest>(request, |p| Ok(actions::actions(world, p)))
        }
        CodeLensRequest::METHOD => on::<CodeLensRequest>(request, |p| Ok(lenses::lenses(world, p))),
        Formatting::METHOD => on::<Formatting>(request, |p| Ok(layout::formatting(world, p))),
        RangeFormatting::METHOD => {
            on::<RangeFormatting>(request, |p| Ok(layout::range_formatting(world, p)))
        }
        FoldingRangeRequest::METHOD => {
            on::<FoldingRangeRequest>(request, |p| Ok(folding::folding(world, p)))
        }
        SelectionRangeRequest::METHOD => {
            on::<SelectionRangeRequest>(request, |p| Ok(folding::selection(world, p)))
        }
        SemanticTokensFullRequest::METHOD => {
            on::<SemanticTokensFullRequest>(request, |p| Ok(tokens::tokens(world, p)))
        }
        InlayHintRequest::METHOD => on::<InlayHintRequest>(request, |p| Ok(hints::hints(world, p))),
        method => Err(error(ErrorCode::MethodNotFound, format!("no method `{method}`"))),
    }
}

fn on<K: Kind>(request: &Request, answer: impl FnOnce(&K::Params) -> Answer<K::Result>) -> Reply {
    let params = params::<K>(request)?;
    let answer = answer(&params).map_err(|Refusal(why)| error(ErrorCode::RequestFailed, why))?;
    serde_json::to_value(answer).map_err(|why| error(ErrorCode::InternalError, why.to_string()))
}

/// The parameters of a request.
pub(crate) fn params<K: Kind>(request: &Request) -> Result<K::Params, ResponseError> {
    serde_json::from_value(request.params.clone())
        .map_err(|why| error(ErrorCode::InvalidParams, why.to_string()))
}

pub(crate) fn error(code: ErrorCode, message: impl Into<String>) -> ResponseError {
    ResponseError { code: code as i32, message: message.into(), data: None }
}
