/// Chunks of PNG and segments of JPEG, assembled by hand to be malformed.
enum SampleImageFiles {
    /// Returns a PNG with chunks inserted after the header.
    static func png(_ file: [UInt8], adding chunks: [[UInt8]]) -> [UInt8] {
        // Signature 8, IHDR 25.
        Array(file.prefix(33)) + chunks.flatMap(\.self) + file.dropFirst(33)
    }

    /// Returns a chunk with its length and its checksum.
    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        return number(content.count) + body + number(Int(checksum(body)))
    }

    /// Returns the header of a PNG: width, height, 8 bits, true colour with alpha.
    static func header(width: Int, height: Int) -> [UInt8] {
        chunk("IHDR", number(width) + number(height) + [8, 6, 0, 0, 0])
    }

    /// Returns the contents of the first chunk of a type.
    static func content(of type: String, in file: [UInt8]) -> [UInt8]? {
        var position = 8
        while position + 12 <= file.count {
            let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            if file[position + 4..<position + 8].elementsEqual(type.utf8) {
                return Array(file[position + 8..<position + 8 + length])
            }
            position += 12 + length
        }
        return nil
    }

    /// Returns a JPEG with segments inserted after its first two bytes.
    static func jpeg(_ file: [UInt8], adding segments: [[UInt8]]) -> [UInt8] {
        Array(file.prefix(2)) + segments.flatMap(\.self) + file.dropFirst(2)
    }

    /// Returns a segment with its marker and its length.
    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker] + number(content.count + 2).suffix(2) + content
    }

    /// Returns an Exif segment with an orientation, followed by a GPS position.
    static func exif(orientation: UInt8, littleEndian: Bool = false, place: String = "") -> [UInt8] {
        let tiff: [UInt8] =
            littleEndian
            ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
            : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        return segment(0xE1, Array("Exif\0\0".utf8) + tiff + Array(place.utf8))
    }

    /// Returns four bytes in big-endian order.
    static func number(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian, Array.init)
    }

    /// CRC-32 as defined for PNG.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(0xFFFF_FFFF as UInt32) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }
}
