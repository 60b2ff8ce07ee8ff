import Crypto

/// A file that the pages load: a path that changes with its content, so that it may be cached for ever, and its bytes.
public struct Asset: Sendable, Hashable {
    /// The path below the issuer: `/assets/counterfoil-<hash>.css`.
    public let path: String
    /// The media type that it is served with.
    public let contentType: String
    /// The file.
    public let bytes: [UInt8]

    /// The stylesheet of every page.
    public static let stylesheet = Asset(
        stem: "counterfoil", suffix: "css", contentType: "text/css; charset=utf-8",
        bytes: PackageResources.counterfoil_css
    )

    /// The icon of every page.
    public static let icon = Asset(
        stem: "counterfoil", suffix: "svg", contentType: "image/svg+xml", bytes: PackageResources.counterfoil_svg
    )

    /// Everything that the pages load; a route for each, and nothing else below `/assets/`.
    public static let all = [stylesheet, icon]

    private init(stem: String, suffix: String, contentType: String, bytes: [UInt8]) {
        let hash = SHA256.hash(data: bytes).prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }
        path = "/assets/\(stem)-\(hash.joined()).\(suffix)"
        self.contentType = contentType
        self.bytes = bytes
    }
}
