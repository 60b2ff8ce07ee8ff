/// `client/x-www-form-urlencoded`, as far as a load generator needs it.
enum Form {
    static func encode(_ fields: [(String, String)]) -> String {
        fields.map { "\(escape($0))=\(escape($1))" }.joined(separator: "&")
    }

    static func decode(_ text: some StringProtocol) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[unescape(parts[0])] = parts.count == 2 ? unescape(parts[1]) : ""
        }
        return fields
    }

    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    private static func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescape(_ text: some StringProtocol) -> String {
        let bytes = Array(text.utf8)
        var plain: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let byte = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
            {
                plain.append(byte)
                index += 3
            } else {
                plain.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
