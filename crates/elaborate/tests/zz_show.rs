mod common;
#[test]
fn show() {
    let Ok(file) = std::env::var("LAM") else { return };
    common::on_big_stack(move || {
        let text = std::fs::read_to_string(&file).unwrap();
        let (sources, checked, problems) = common::checked(&file, &text);
        print!("{}", lambada_source::render(&sources, &problems, false));
        for d in checked.definitions() {
            println!("{} : {}", d.name, d.scheme);
        }
        if let Ok(entry) = std::env::var("ENTRY") {
            let program = checked.program(&entry).unwrap();
            println!("{}", lambada_core::print_program(&program));
            lambada_core::check(&program).unwrap();
        }
    });
}
