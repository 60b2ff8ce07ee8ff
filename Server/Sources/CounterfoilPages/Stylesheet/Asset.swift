@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
public import CounterfoilStore
import Crypto

/// A static file that pages load.
///
/// The path contains a hash of the content, so browsers can cache the file forever.
public struct Asset: Sendable, Hashable {
    /// The path below that of the issuer, such as `/assets/counterfoil-<hash>.css`.
    public let path: String
    /// The value of the `Content-Type` field, including the character encoding.
    public let contentType: String
    /// The content of the file, as it is sent to browsers.
    public let bytes: [UInt8]

    /// The stylesheet of every page, in the default accent color.
    public static let stylesheet = Asset(
        stem: "counterfoil", suffix: "css", contentType: "text/css; charset=utf-8",
        bytes: CompactStylesheet(PackageResources.counterfoil_css).bytes
    )

    /// The script of the pages for signed-in users: copy buttons, and validation while the user types.
    public static let script = Asset(
        stem: "console", suffix: "js", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.console_js
    )

    /// The script of the pages with passkeys.
    public static let passkeyScript = Asset(
        stem: "passkeys", suffix: "js", contentType: "text/javascript; charset=utf-8",
        bytes: PackageResources.passkeys_js
    )

    /// The script that submits the form of a page automatically.
    public static let goOnScript = Asset(
        stem: "go-on", suffix: "js", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.go_on_js
    )

    /// The icon of every page, as a `data:` URL, which needs no request.
    public static let icon = icon(fill: "2352c5")

    /// Whether the file is a stylesheet, in any accent color.
    package var isStylesheet: Bool { path.hasSuffix(".css") }

    /// All static files, with the stylesheet in the default accent color only.
    public static let all = [stylesheet, script, passkeyScript, goOnScript]

    /// Finds the file with the given path; nil if there is none.
    ///
    /// The path of a stylesheet contains its accent color, so every process can build the stylesheet of any color. A
    /// page that was loaded before a change of the color can therefore still get the previous stylesheet.
    public static func named(_ path: String) -> Asset? {
        if let asset = all.first(where: { $0.path == path }) { return asset }
        let parts = path.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "/assets/counterfoil", let accent = AccentColor(String(parts[1])) else {
            return nil
        }
        let asset = branded.asset(named: accent)
        return asset.path == path ? asset : nil
    }

    /// Returns the stylesheet in an accent color, as one file; nil means the default color.
    public static func stylesheet(accent: AccentColor?) -> Asset {
        guard let accent else { return stylesheet }
        return branded.asset(of: accent)
    }

    /// Returns the icon in an accent color, as a `data:` URL; nil means the default color.
    public static func icon(accent: AccentColor?) -> String {
        guard let accent else { return icon }
        return icon(fill: accent.rawValue.dropFirst())
    }

    private static let branded = BrandedStylesheets()

    /// Builds the stylesheet in an accent color.
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

/// A cache of the stylesheets in the accent colors that the pages of this process use.
///
/// If the path of a request names a color that no page of this process uses, the stylesheet is built but not cached. A
/// client could otherwise evict the stylesheets that are in use, by requests for many colors.
final class BrandedStylesheets: Sendable {
    /// The maximum number of cached stylesheets.
    ///
    /// A server needs one stylesheet, and more only after a change of the accent color or for a preview.
    private static let capacity = 8
    private let known = Mutex<[AccentColor: Asset]>([:])

    /// The accent colors whose stylesheets are cached.
    var colors: Set<AccentColor> { Set(known.withLock { $0.keys }) }

    /// Returns the stylesheet for a page of this process, and caches it.
    func asset(of accent: AccentColor) -> Asset {
        if let asset = known.withLock({ $0[accent] }) { return asset }
        let asset = Asset(branded: accent)
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[accent] = asset
        }
        return asset
    }

    /// Returns the stylesheet for an accent color that a request path names, without caching it.
    func asset(named accent: AccentColor) -> Asset { known.withLock { $0[accent] } ?? Asset(branded: accent) }
}

extension PageScript {
    /// The static file that contains the script.
    var asset: Asset {
        switch self {
        case .interactive: .script
        case .passkeys: .passkeyScript
        case .proceed: .goOnScript
        }
    }
}

extension AccentScheme {
    /// The CSS custom properties for the accent color, which are appended to the stylesheet.
    fileprivate var css: String {
        func tokens(_ shades: Shades) -> String {
            "--accent:\(shades.accent);--accent-strong:\(shades.strong);--accent-ink:\(shades.ink);"
                + "--tint:\(shades.tint);--tint-ink:\(shades.tintInk)"
        }
        // The mark of the service has the accent color. The mark of a client has neutral colors, so that it looks
        // different.
        let marks = ";--site:var(--tint);--site-ink:var(--tint-ink);--app:var(--line);--app-ink:var(--ink)"
        return ":root{\(tokens(light))\(marks)}@media (prefers-color-scheme:dark){:root{\(tokens(dark))}}"
    }
}
