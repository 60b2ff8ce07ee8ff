public import CounterfoilServer
import Crypto
import Synchronization

/// A file that the pages load: a path that changes with its content, so that it may be cached for ever, and its bytes.
public struct Asset: Sendable, Hashable {
    /// The path below the issuer: `/assets/counterfoil-<hash>.css`.
    public let path: String
    /// The media type that it is served with.
    public let contentType: String
    /// The file.
    public let bytes: [UInt8]

    /// The stylesheet of every page, in our own colour.
    public static let stylesheet = Asset(
        stem: "counterfoil", suffix: "css", contentType: "text/css; charset=utf-8",
        bytes: CompactStylesheet(PackageResources.counterfoil_css).bytes
    )

    /// The comforts of the pages for somebody who is signed in: copying, and verdicts while one types.
    public static let script = Asset(
        stem: "console", suffix: "js", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.console_js
    )

    /// The few lines that submit the form of a page that goes on by itself.
    public static let goOnScript = Asset(
        stem: "go-on", suffix: "js", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.go_on_js
    )

    /// The icon of every page, as a `data:` URL: it costs no request.
    public static let icon = icon(fill: "2352c5")

    /// Whether it is a stylesheet, in whatever colour.
    var isStylesheet: Bool { path.hasSuffix(".css") }

    /// Everything that the pages load as long as nobody has chosen a colour.
    public static let all = [stylesheet, script, goOnScript]

    /// The file of a path, in whatever colour the path names; nil where there is none.
    ///
    /// Nothing is looked up: the path of a stylesheet says its colour, so that one that was in force a moment ago is
    /// still there for the page that asks for it, on every process.
    public static func named(_ path: String) -> Asset? {
        if let asset = all.first(where: { $0.path == path }) { return asset }
        let parts = path.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "/assets/counterfoil", let accent = AccentColor(String(parts[1])) else {
            return nil
        }
        let asset = branded.asset(named: accent)
        return asset.path == path ? asset : nil
    }

    /// The stylesheet in the owner's colour: the whole of it in one file, so that a page asks for one.
    public static func stylesheet(accent: AccentColor?) -> Asset {
        guard let accent else { return stylesheet }
        return branded.asset(of: accent)
    }

    /// The icon in the owner's colour.
    public static func icon(accent: AccentColor?) -> String {
        guard let accent else { return icon }
        return icon(fill: accent.rawValue.dropFirst())
    }

    private static let branded = BrandedStylesheets()

    /// The stylesheet in a colour, made from nothing.
    fileprivate init(branded accent: AccentColor) {
        self.init(
            stem: "counterfoil-\(accent.rawValue.dropFirst())", suffix: "css",
            contentType: Self.stylesheet.contentType,
            bytes: Self.stylesheet.bytes + AccentScheme(accent).css.utf8)
    }

    private init(stem: String, suffix: String, contentType: String, bytes: [UInt8]) {
        let hash = SHA256.hash(data: bytes).prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }
        path = "/assets/\(stem)-\(hash.joined()).\(suffix)"
        self.contentType = contentType
        self.bytes = bytes
    }

    private static func icon(fill: some StringProtocol) -> String {
        let markup = String(decoding: PackageResources.counterfoil_svg, as: UTF8.self)
            .replacing("#2352c5", with: "#\(fill)")
        let escaped = markup.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "#"): text += "%23"
            case UInt8(ascii: "<"): text += "%3C"
            case UInt8(ascii: ">"): text += "%3E"
            case UInt8(ascii: "\""): text += "'"
            case UInt8(ascii: "\n"): break
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return "data:image/svg+xml,\(escaped)"
    }
}

/// The stylesheets in the colours of pages of this process.
///
/// One that only a path names, which anybody can write, is made and not kept: it would drive out those that are in use.
final class BrandedStylesheets: Sendable {
    /// How many are kept; a service has one, and another after a change or while somebody looks at a preview.
    private static let capacity = 8
    private let known = Mutex<[AccentColor: Asset]>([:])

    /// The colours whose stylesheets are kept.
    var colors: Set<AccentColor> { Set(known.withLock { $0.keys }) }

    /// The stylesheet that a page of this process loads.
    func asset(of accent: AccentColor) -> Asset {
        if let asset = known.withLock({ $0[accent] }) { return asset }
        let asset = Asset(branded: accent)
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[accent] = asset
        }
        return asset
    }

    /// The stylesheet of a colour that a path names.
    func asset(named accent: AccentColor) -> Asset { known.withLock { $0[accent] } ?? Asset(branded: accent) }
}

extension PageScript {
    /// The file of the script.
    var asset: Asset {
        switch self {
        case .interactive: .script
        case .goOn: .goOnScript
        }
    }
}

extension AccentScheme {
    /// What stands behind the stylesheet: the tokens that follow from the owner's colour.
    fileprivate var css: String {
        func tokens(_ shades: Shades) -> String {
            "--accent:\(shades.accent);--accent-strong:\(shades.strong);--accent-ink:\(shades.ink);"
                + "--tint:\(shades.tint);--tint-ink:\(shades.tintInk)"
        }
        // The service's mark is in its colour; that of an application must not look like it.
        let marks = ";--site:var(--tint);--site-ink:var(--tint-ink);--app:var(--line);--app-ink:var(--ink)"
        return ":root{\(tokens(light))\(marks)}@media (prefers-color-scheme:dark){:root{\(tokens(dark))}}"
    }
}
