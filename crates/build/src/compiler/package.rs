//! The files of a library: texts, machine code, and the file for `pkg-config`. They are built in a
//! temporary folder and then moved into place together, so that no file is incomplete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lambada_run::{Children, Compiler, Unfinished};
use lambada_source::Problem;

use super::library::Sources;
use super::messages;
use super::request::Platform;
use super::versions::{object, version_flags, versions_macro};
use super::wasm::Tools;
use super::{cmake, javascript};

/// Writes the files of a library into a folder, which is created if necessary; returns their paths.
/// These are `NAME.c`, `NAME.h`, `NAME.pc`, `NAMEConfig.cmake`, `NAMEConfigVersion.cmake`,
/// `libNAME.a` and `libNAME.so` (`.dylib` on macOS); for WebAssembly, `NAME.wasm`, `NAME.mjs` and
/// `NAME.d.mts`; for C11, the texts alone.
///
/// # Errors
/// No C compiler or archiver works, or the folder cannot be written.
pub fn write_library(sources: &Sources, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let made = missing(folder);
    let _unfinished = made.map(Unfinished::at);
    let result = Scratch::inside(folder).and_then(|scratch| {
        let files = match sources.library.platform {
            Platform::Native | Platform::Portable => library_files(sources, &scratch)?,
            Platform::Wasm => module_files(sources, &scratch)?,
            Platform::C11 | Platform::Embedded => {
                let cmake = cmake_files(sources, &scratch)?;
                texts(sources, &scratch)?.into_iter().chain(cmake).collect()
            }
        };
        publish(scratch.path(), folder, &files)
    });
    if let (Err(_), Some(made)) = (&result, made) {
        // Removes a folder created here. If others use it by now, it is not empty and stays.
        let _ = fs::remove_dir(made);
    }
    result
}

fn library_files(sources: &Sources, scratch: &Scratch) -> Result<Vec<String>, Problem> {
    let name = &sources.library.name;
    let texts = texts(sources, scratch)?;
    let package = write(scratch, &format!("{name}.pc"), &package(sources))?;
    let objects = objects(sources, scratch.path())?;
    let archive = archive(sources, scratch.path(), &objects)?;
    let shared = shared(sources, scratch.path(), &objects)?;
    let cmake = cmake_files(sources, scratch)?;
    let code = [archive, shared];
    Ok(texts.into_iter().chain([package]).chain(cmake).chain(code).collect())
}

fn cmake_files(sources: &Sources, scratch: &Scratch) -> Result<Vec<String>, Problem> {
    cmake::files(sources).iter().map(|(name, text)| write(scratch, name, text)).collect()
}

/// The C text and the header.
fn texts(sources: &Sources, scratch: &Scratch) -> Result<[String; 2], Problem> {
    let name = &sources.library.name;
    let code = write(scratch, &format!("{name}.c"), &sources.code)?;
    Ok([code, write(scratch, &format!("{name}.h"), &sources.header)?])
}

fn module_files(sources: &Sources, scratch: &Scratch) -> Result<Vec<String>, Problem> {
    let library = &sources.library;
    let name = &library.name;
    let tools = Tools::find().map_err(|problem| *problem)?;
    texts(sources, scratch)?;
    let module = format!("{name}.wasm");
    run(vec![tools.command(sources, &module)], scratch.path())?;
    let script = write(scratch, &format!("{name}.mjs"), &javascript::module(library))?;
    let types = write(scratch, &format!("{name}.d.mts"), &javascript::types(library))?;
    Ok(vec![module, script, types])
}

/// Writes only the C text, the header and the static library; returns their paths.
///
/// # Errors
/// As [`write_library`].
pub fn write_static(sources: &Sources, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let scratch = Scratch::inside(folder)?;
    let files = texts(sources, &scratch)?;
    let objects = objects(sources, scratch.path())?;
    let archive = archive(sources, scratch.path(), &objects)?;
    let files: Vec<String> = files.into_iter().chain([archive]).collect();
    publish(scratch.path(), folder, &files)
}

/// The folder, if it does not exist.
fn missing(folder: &Path) -> Option<&Path> {
    (!folder.exists()).then_some(folder)
}

/// A temporary folder inside the target folder, so that moving files is renaming.
struct Scratch {
    folder: tempfile::TempDir,
    _unfinished: Unfinished,
}

impl Scratch {
    fn inside(folder: &Path) -> Result<Scratch, Problem> {
        let failed = |error| messages::not_written(folder, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix(".lambada-").tempdir_in(folder);
        let folder = folder.map_err(failed)?;
        let unfinished = Unfinished::at(folder.path());
        Ok(Scratch { folder, _unfinished: unfinished })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn write(scratch: &Scratch, name: &str, text: &str) -> Result<String, Problem> {
    let path = scratch.path().join(name);
    fs::write(&path, text).map_err(|error| messages::not_written(&path, &error))?;
    Ok(name.to_string())
}

/// Moves all files into place. Checks first that none of them would replace a folder.
fn publish(from: &Path, to: &Path, files: &[String]) -> Result<Vec<PathBuf>, Problem> {
    for name in files {
        let place = to.join(name);
        if place.is_dir() {
            let error = std::io::Error::other("it is a folder");
            return Err(messages::not_written(&place, &error));
        }
    }
    let moved = files.iter().map(|name| {
        let place = to.join(name);
        fs::rename(from.join(name), &place)
            .map_err(|error| messages::not_written(&place, &error))?;
        Ok(place)
    });
    moved.collect()
}

/// Compiles all versions of the code in parallel; returns the names of the files.
fn objects(sources: &Sources, folder: &Path) -> Result<Vec<String>, Problem> {
    let library = &sources.library;
    let compiler = Compiler::find().ok_or_else(messages::no_compiler)?;
    let mut objects = Vec::new();
    let mut commands = Vec::new();
    for (version, processor) in library.processors.iter().enumerate() {
        let object = object(library, *processor);
        let mut command = compiler.command();
        command.args(compiler.flags().filter(|flag| *flag != "-shared"));
        match version {
            0 => command.args(processor.flags()),
            _ => command.args(version_flags(library, *processor)),
        };
        if version == 0 && library.processors.len() > 1 {
            command.arg(format!("-D{}", versions_macro(library)));
        }
        command.args(["-c", &format!("{}.c", library.name), "-o", &object]);
        commands.push(command);
        objects.push(object);
    }
    run(commands, folder)?;
    Ok(objects)
}

fn archive(sources: &Sources, folder: &Path, objects: &[String]) -> Result<String, Problem> {
    let name = format!("lib{}.a", sources.library.name);
    let archiver = std::env::var("AR").ok().filter(|ar| !ar.trim().is_empty());
    let mut command = Command::new(archiver.unwrap_or_else(|| "ar".to_string()));
    command.args(["rcs", &name]).args(objects);
    run(vec![command], folder)?;
    Ok(name)
}

fn shared(sources: &Sources, folder: &Path, objects: &[String]) -> Result<String, Problem> {
    let apple = cfg!(target_os = "macos");
    let name = format!("lib{}.{}", sources.library.name, if apple { "dylib" } else { "so" });
    let compiler = Compiler::find().ok_or_else(messages::no_compiler)?;
    let own_name = if apple {
        format!("-Wl,-install_name,@rpath/{name}")
    } else {
        format!("-Wl,-soname,{name}")
    };
    let mut command = compiler.command();
    command.args(["-shared", "-fPIC"]).args(objects).args(["-o", &name, &own_name, "-lm"]);
    run(vec![command], folder)?;
    Ok(name)
}

/// Runs compilers or an archiver to completion.
fn run(commands: Vec<Command>, folder: &Path) -> Result<(), Problem> {
    let mut names = Vec::new();
    let mut children = Children::default();
    for mut command in commands {
        names.push(command.get_program().to_string_lossy().into_owned());
        command.current_dir(folder);
        children.push(command);
    }
    let ended = children.outputs();
    names.iter().zip(ended).try_for_each(|(name, ended)| succeeded(name, ended))
}

fn succeeded(name: &str, ended: io::Result<Output>) -> Result<(), Problem> {
    let output =
        ended.map_err(|error| messages::no_tool(name, &format!("does not start: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map_or_else(|| format!("ends with {}", output.status), |line| format!("says: {line}"));
    Err(messages::no_tool(name, &said))
}

/// `NAME.pc`, which refers to the folder that contains it.
fn package(sources: &Sources) -> String {
    let library = &sources.library;
    let name = &library.name;
    format!(
        "prefix=${{pcfiledir}}\n\n\
         Name: {name}\n\
         Description: {}\n\
         Version: {}\n\
         Cflags: -I${{prefix}}\n\
         Libs: -L${{prefix}} -Wl,-rpath,${{prefix}} -l{name} -lm\n",
        format_args!("made by Lambada from {}", library.source.replace('\n', " ")),
        env!("CARGO_PKG_VERSION"),
    )
}
