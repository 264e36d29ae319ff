//! The features that server and client tell each other about.

use lsp_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, DidChangeWatchedFilesRegistrationOptions,
    ExecuteCommandOptions, FileSystemWatcher, FoldingRangeProviderCapability, GlobPattern,
    HoverProviderCapability, InitializeParams, InitializeResult, OneOf, Registration,
    RegistrationParams, RenameOptions, SelectionRangeProviderCapability, SemanticTokensFullOptions,
    SemanticTokensOptions, SemanticTokensServerCapabilities, ServerCapabilities, ServerInfo,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use crate::actions::FIX_ALL;
use crate::commands::COMMANDS;
use crate::lines::Encoding;
use crate::tokens::legend;

/// The abilities of a client that the server asks about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    /// Opens documents that the server names.
    pub shows_documents: bool,
    /// Reports changed files that match patterns.
    pub watches: bool,
    /// Shows the results of commands itself.
    pub shows_results: bool,
    pub encoding: Encoding,
}

impl Client {
    pub fn of(params: &InitializeParams) -> Client {
        let ClientCapabilities { window, workspace, general, .. } = &params.capabilities;
        let show = window.as_ref().and_then(|window| window.show_document.as_ref());
        let watched = workspace.as_ref().and_then(|one| one.did_change_watched_files.as_ref());
        let offered = general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let options = params.initialization_options.as_ref();
        let shows_results = options.and_then(|options| options.get("showsResults")?.as_bool());
        Client {
            shows_documents: show.is_some_and(|show| show.support),
            watches: watched.is_some_and(|one| one.dynamic_registration == Some(true)),
            shows_results: shows_results == Some(true),
            encoding: Encoding::agreed(offered),
        }
    }
}

/// The answer to `initialize`.
pub(crate) fn initialized(encoding: Encoding) -> InitializeResult {
    let version = Some(env!("CARGO_PKG_VERSION").to_string());
    InitializeResult {
        capabilities: capabilities(encoding),
        server_info: Some(ServerInfo { name: "lambada".to_string(), version }),
    }
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        ..TextDocumentSyncOptions::default()
    };
    let characters = |all: &[&str]| Some(all.iter().map(ToString::to_string).collect());
    let actions = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, FIX_ALL]),
        ..CodeActionOptions::default()
    };
    let tokens = SemanticTokensOptions {
        legend: legend(),
        full: Some(SemanticTokensFullOptions::Bool(true)),
        ..SemanticTokensOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(OneOf::Left(true)),
    };
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: characters(&[".", "\"", "/"]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: characters(&[" ", "("]),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(actions)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_string).to_vec(),
            work_done_progress_options: Default::default(),
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(folders),
            file_operations: None,
        }),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            tokens,
        )),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// The wish to be told of changed programs on the disk.
pub(crate) fn watch() -> RegistrationParams {
    let watcher =
        FileSystemWatcher { glob_pattern: GlobPattern::String("**/*.lam".to_string()), kind: None };
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: vec![watcher] };
    let registration = Registration {
        id: "programs".to_string(),
        method: "workspace/didChangeWatchedFiles".to_string(),
        register_options: serde_json::to_value(options).ok(),
    };
    RegistrationParams { registrations: vec![registration] }
}
