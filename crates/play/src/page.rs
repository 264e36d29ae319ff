//! The files of the page, which `web` has in source: `web/README.md` says how to build them.

/// A file of the page.
pub(crate) struct Asset {
    pub address: &'static str,
    /// Its media type.
    pub kind: &'static str,
    pub bytes: &'static [u8],
}

const ASSETS: [Asset; 5] = [
    Asset {
        address: "/",
        kind: "text/html; charset=utf-8",
        bytes: include_bytes!("../web/dist/index.html"),
    },
    Asset {
        address: "/app.js",
        kind: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../web/dist/app.js"),
    },
    Asset {
        address: "/app.css",
        kind: "text/css; charset=utf-8",
        bytes: include_bytes!("../web/dist/app.css"),
    },
    Asset {
        address: "/icon.svg",
        kind: "image/svg+xml",
        bytes: include_bytes!("../web/dist/icon.svg"),
    },
    Asset {
        address: "/licenses.txt",
        kind: "text/plain; charset=utf-8",
        bytes: include_bytes!("../web/dist/licenses.txt"),
    },
];

/// The file at an address.
pub(crate) fn asset(address: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.address == address)
}
