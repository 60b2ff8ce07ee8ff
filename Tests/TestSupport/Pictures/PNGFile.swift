package import Foundation

/// An encoder for PNG files (W3C PNG §5).
package struct PNGFile {
    package let width: Int
    package let height: Int
    /// The red, green and blue values of up to 256 colours; nil for truecolour images.
    package var palette: [UInt8]?
    /// The rows, each after its filter type, as a zlib stream (RFC 1950).
    package let rows: [UInt8]

    package init(width: Int, height: Int, palette: [UInt8]? = nil, rows: [UInt8]) {
        self.width = width
        self.height = height
        self.palette = palette
        self.rows = rows
    }

    /// The encoded file.
    package var data: Data {
        let header = Self.bytes(UInt32(width)) + Self.bytes(UInt32(height)) + [8, palette == nil ? 2 : 3, 0, 0, 0]
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += Self.chunk("IHDR", header)
        if let palette { file += Self.chunk("PLTE", palette) }
        file += Self.chunk("IDAT", rows) + Self.chunk("IEND", [])
        return Data(file)
    }

    /// Encodes bytes as a zlib stream of stored blocks (RFC 1951 §3.2.4).
    package static func stored(_ content: [UInt8]) -> [UInt8] {
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

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        var check: UInt32 = 0xFFFF_FFFF
        for byte in body {
            check ^= UInt32(byte)
            for _ in 0..<8 { check = check & 1 == 0 ? check >> 1 : check >> 1 ^ 0xEDB8_8320 }
        }
        return bytes(UInt32(content.count)) + body + bytes(~check)
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
