//! Declarations in Fortran, for `iso_c_binding`. Fortran arrays are column-major, so their sizes
//! come in reverse order.

use lambada_prim::{Precision, ScalarTy};

use super::describe::{Dims, Function, Library};
use super::sizes::{Extent, Spelling};

/// Columns of a line; Fortran allows 132.
const WIDTH: usize = 100;

/// The declarations common to all libraries.
pub(crate) fn common(library: &Library) -> String {
    let name = &library.name;
    format!(
        "interface\n\
         \x20 type(c_ptr) function {name}_open() bind(c)\n\
         \x20   import :: c_ptr\n\
         \x20 end function\n\
         \x20 subroutine {name}_close(context) bind(c)\n\
         \x20   import :: c_ptr\n\
         \x20   type(c_ptr), value :: context\n\
         \x20 end subroutine\n\
         \x20 type(c_ptr) function {name}_message(context) bind(c)  ! characters that a null ends\n\
         \x20   import :: c_ptr\n\
         \x20   type(c_ptr), value :: context\n\
         \x20 end function\n\
         \x20 subroutine {name}_limit(context, bytes) bind(c)\n\
         \x20   import :: c_ptr, c_int64_t\n\
         \x20   type(c_ptr), value :: context\n\
         \x20   integer(c_int64_t), value :: bytes\n\
         \x20 end subroutine\n\
         \x20 subroutine {name}_cancel(context) bind(c)\n\
         \x20   import :: c_ptr\n\
         \x20   type(c_ptr), value :: context\n\
         \x20 end subroutine\n\
         \x20 integer(c_int64_t) function {name}_vector_bits(context, most) bind(c)\n\
         \x20   import :: c_ptr, c_int64_t\n\
         \x20   type(c_ptr), value :: context\n\
         \x20   integer(c_int64_t), value :: most\n\
         \x20 end function\n\
         \x20 integer(c_int) function {name}_threads(context, threads, fork, pool) bind(c)\n\
         \x20   import :: c_ptr, c_int, c_int64_t, c_funptr\n\
         \x20   type(c_ptr), value :: context, pool\n\
         \x20   integer(c_int64_t), value :: threads\n\
         \x20   type(c_funptr), value :: fork\n\
         \x20 end function\n\
         end interface\n"
    )
}

/// The declaration of a function.
pub(crate) fn declaration(library: &Library, function: &Function) -> String {
    let mut names = vec!["context".to_string()];
    names.extend(function.inputs.iter().map(|input| input.name.clone()));
    let mut lines = vec!["type(c_ptr), value :: context".to_string()];
    for input in &function.inputs {
        let ty = scalar(library.precision, input.elem);
        lines.push(if input.dims.is_empty() {
            format!("{ty}, value :: {}", input.name)
        } else {
            format!("{ty}, intent(in) :: {}({})", input.name, dims(&input.dims))
        });
    }
    for output in &function.outputs {
        let (name, ty) = (&output.name, scalar(library.precision, output.elem));
        names.push(name.clone());
        match &output.dims {
            Dims::Known(known) if known.is_empty() => {
                lines.push(format!("{ty}, intent(out) :: {name}"));
            }
            Dims::Known(known) => {
                lines.push(format!("{ty}, intent(out) :: {name}({})", dims(known)))
            }
            Dims::Found(sizes) => {
                lines.push(format!("type(c_ptr), intent(out) :: {name}  ! for c_f_pointer"));
                lines.push(format!("integer(c_int64_t), intent(out) :: {}", sizes.join(", ")));
                names.extend(sizes.iter().cloned());
            }
        }
    }
    let kinds = ["c_ptr", "c_int", "c_int64_t", "c_double", "c_float", "c_bool"];
    let used = |kind: &&str| {
        **kind == *"c_int" || lines.iter().any(|line| line.contains(&format!("({kind})")))
    };
    let kinds: Vec<&str> = kinds.into_iter().filter(used).collect();
    let head = format!("  integer(c_int) function {}_{}(", library.name, function.name);
    let mut text =
        format!("interface\n{} bind(c)\n    import :: {}\n", list(&head, &names), kinds.join(", "));
    lines.iter().for_each(|line| text += &format!("    {line}\n"));
    text + "  end function\nend interface\n"
}

/// `head a, b, c)`, wrapped if necessary.
fn list(head: &str, names: &[String]) -> String {
    let mut lines = vec![head.to_string()];
    for (k, name) in names.iter().enumerate() {
        let word = if k + 1 < names.len() { format!("{name}, ") } else { format!("{name})") };
        match lines.last_mut() {
            Some(line) if line.len() + word.len() <= WIDTH => line.push_str(&word),
            Some(_) | None => lines.push(format!("      {word}")),
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join(" &\n")
}

fn dims(dims: &[Extent]) -> String {
    let texts: Vec<String> = dims.iter().rev().map(|dim| dim.text(Spelling::Fortran)).collect();
    texts.join(", ")
}

fn scalar(precision: Precision, elem: ScalarTy) -> &'static str {
    match (elem, precision) {
        (ScalarTy::Real, Precision::F64) => "real(c_double)",
        (ScalarTy::Real, Precision::F32) => "real(c_float)",
        (ScalarTy::Int, _) => "integer(c_int64_t)",
        (ScalarTy::Bool, _) => "logical(c_bool)",
    }
}
