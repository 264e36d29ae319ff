//! The files of a library: text, machine code, and what `pkg-config` reads. They are made in a folder of their own and moved to their places when
//! all are there, so that nothing is half-written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lambada_run::{Compiler, Target, Unfinished};
use lambada_source::Problem;

use super::library::Sources;
use super::messages;

/// Writes `NAME.c`, `NAME.h`, `libNAME.a`, `libNAME.so` (`.dylib` on macOS) and `NAME.pc` into a folder, which is made if need be; gives their paths.
///
/// # Errors
/// No C compiler or archiver, a folder that cannot be written.
pub fn write_library(sources: &Sources, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let name = &sources.library.name;
    let made = missing(folder);
    let _unfinished = made.map(Unfinished::at);
    let result = Scratch::inside(folder).and_then(|scratch| {
        let files = [
            write(&scratch, &format!("{name}.c"), &sources.code)?,
            write(&scratch, &format!("{name}.h"), &sources.header)?,
            write(&scratch, &format!("{name}.pc"), &package(sources))?,
        ];
        let object = object(sources, scratch.path())?;
        let files: Vec<String> = files
            .into_iter()
            .chain([
                archive(sources, scratch.path(), &object)?,
                shared(sources, scratch.path(), &object)?,
            ])
            .collect();
        publish(scratch.path(), folder, &files)
    });
    if let (Err(_), Some(made)) = (&result, made) {
        // What has been made only for this goes again; if others use it by now, it is not empty and stays.
        let _ = fs::remove_dir(made);
    }
    result
}

/// Writes only the C text, the header and the static library.
///
/// # Errors
/// As [`write_library`].
pub fn write_static(sources: &Sources, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let name = &sources.library.name;
    let scratch = Scratch::inside(folder)?;
    let files = vec![
        write(&scratch, &format!("{name}.c"), &sources.code)?,
        write(&scratch, &format!("{name}.h"), &sources.header)?,
    ];
    let object = object(sources, scratch.path())?;
    let archive = archive(sources, scratch.path(), &object)?;
    let files: Vec<String> = files.into_iter().chain([archive]).collect();
    publish(scratch.path(), folder, &files)
}

/// The folder, if it is not there.
fn missing(folder: &Path) -> Option<&Path> {
    (!folder.exists()).then_some(folder)
}

/// A folder inside of the one that files go to: moving them is renaming.
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

/// Moves all files to their places. What cannot be replaced is found out before the first one is moved.
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

/// Compiles the text; gives the name of the file.
fn object(sources: &Sources, folder: &Path) -> Result<String, Problem> {
    let name = &sources.library.name;
    let compiler = Compiler::find().ok_or_else(messages::no_compiler)?;
    let target = if sources.library.portable { Target::Any } else { Target::Here };
    let object = format!("{name}.o");
    let mut command = compiler.command();
    command.args(lambada_codegen::FLAGS.iter().filter(|flag| **flag != "-shared"));
    command.args(target.flags()).args(["-c", &format!("{name}.c"), "-o", &object]);
    run(command, folder)?;
    Ok(object)
}

fn archive(sources: &Sources, folder: &Path, object: &str) -> Result<String, Problem> {
    let name = format!("lib{}.a", sources.library.name);
    let archiver = std::env::var("AR").ok().filter(|ar| !ar.trim().is_empty());
    let mut command = Command::new(archiver.unwrap_or_else(|| "ar".to_string()));
    command.args(["rcs", &name, object]);
    run(command, folder)?;
    Ok(name)
}

fn shared(sources: &Sources, folder: &Path, object: &str) -> Result<String, Problem> {
    let apple = cfg!(target_os = "macos");
    let name = format!("lib{}.{}", sources.library.name, if apple { "dylib" } else { "so" });
    let compiler = Compiler::find().ok_or_else(messages::no_compiler)?;
    let own_name = if apple {
        format!("-Wl,-install_name,@rpath/{name}")
    } else {
        format!("-Wl,-soname,{name}")
    };
    let mut command = compiler.command();
    command.args(["-shared", "-fPIC", object, "-o", &name, &own_name, "-lm"]);
    run(command, folder)?;
    Ok(name)
}

fn run(mut command: Command, folder: &Path) -> Result<(), Problem> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.current_dir(folder).stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| messages::no_tool(&name, &format!("does not start: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map_or_else(|| format!("ends with {}", output.status), |line| format!("says: {line}"));
    Err(messages::no_tool(&name, &said))
}

/// `NAME.pc`: the library is where this file is.
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
