import Foundation

/// A small picture, drawn from a rule, as a PNG file.
struct Drawing: Sendable {
    let side: Int
    /// Red, green and blue at a place; both coordinates go from -1 to 1.
    let colour: @Sendable (_ x: Double, _ y: Double) -> (UInt8, UInt8, UInt8)

    /// The picture of Lightbox: a lens.
    static let lens = Drawing(side: 128) { x, y in
        let distance = (x * x + y * y).squareRoot()
        if distance < 0.22 { return (255, 214, 102) }
        if distance < 0.46 { return (58, 28, 92) }
        if distance < 0.56 { return (255, 255, 255) }
        return (UInt8(190 + 40 * (x + 1) / 2), UInt8(70 + 40 * (y + 1) / 2), 110)
    }

    /// The picture of the site: the sun above a hill.
    static let sunrise = Drawing(side: 128) { x, y in
        let sun = ((x - 0.2) * (x - 0.2) + (y + 0.1) * (y + 0.1)).squareRoot()
        if y > 0.35 + 0.35 * x * x - 0.2 * x { return (22, 92, 78) }
        return sun < 0.38 ? (255, 196, 84) : (214, 238, 230)
    }

    /// The picture as a PNG file (W3C PNG §5), uncompressed.
    func png() -> Data {
        var rows: [UInt8] = []
        for y in 0..<side {
            rows.append(0)
            for x in 0..<side {
                let at = { (place: Int) in 2 * (Double(place) + 0.5) / Double(side) - 1 }
                let (red, green, blue) = colour(at(x), at(y))
                rows += [red, green, blue]
            }
        }
        let header = Self.bytes(UInt32(side)) + Self.bytes(UInt32(side)) + [8, 2, 0, 0, 0]
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += Self.chunk("IHDR", header) + Self.chunk("IDAT", Self.stored(rows)) + Self.chunk("IEND", [])
        return Data(file)
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        var check: UInt32 = 0xFFFF_FFFF
        for byte in body {
            check ^= UInt32(byte)
            for _ in 0..<8 { check = check & 1 == 0 ? check >> 1 : check >> 1 ^ 0xEDB8_8320 }
        }
        return bytes(UInt32(content.count)) + body + bytes(~check)
    }

    /// A zlib stream of blocks that are stored as they are (RFC 1950, RFC 1951 §3.2.4).
    private static func stored(_ content: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var rest = content[...]
        while !rest.isEmpty {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream += [rest.isEmpty ? 1 : 0]
            stream += [length, ~length].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            stream += block
        }
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in content {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return stream + bytes(high << 16 | low)
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
