import Foundation

/// The members of a JSON object that an authority has sent.
package struct JSONMembers {
    private let members: [String: Any]

    /// Parses an object; nil for any other text.
    package init?(_ json: [UInt8]) {
        guard let members = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] else { return nil }
        self.members = members
    }

    private init(_ members: [String: Any]) { self.members = members }

    package func text(_ name: String) -> String? { members[name] as? String }

    package func isTrue(_ name: String) -> Bool { members[name] as? Bool == true }

    package func object(_ name: String) -> JSONMembers? { (members[name] as? [String: Any]).map(JSONMembers.init) }

    /// The objects in an array, without its other elements; nil if the member is no array.
    package func objects(_ name: String) -> [JSONMembers]? {
        (members[name] as? [Any])?.compactMap { ($0 as? [String: Any]).map(JSONMembers.init) }
    }

    /// The texts of an array; nil if the member is no array, or has another element.
    package func texts(_ name: String) -> [String]? { members[name] as? [String] }
}

/// The coding of bytes as URL-safe text without padding (RFC 4648 §5).
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes a text; nil if it is invalid.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let base64 = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + padding
        return Data(base64Encoded: base64).map { Array($0) }
    }
}
