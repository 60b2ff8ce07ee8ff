/// The orientation of the camera when a photo was taken; the raw values are those of the Exif tag `Orientation`.
enum Orientation: Int {
    case upright = 1
    case mirrored = 2
    case upsideDown = 3
    case upsideDownMirrored = 4
    case transposed = 5
    case quarterRight = 6
    case transversed = 7
    case quarterLeft = 8

    /// Reads the orientation from the Exif segment of a JPEG; `upright` if the segment is missing or invalid.
    init(ofJPEG bytes: [UInt8]) {
        self = Self.exif(in: bytes).flatMap(Self.init(exif:)) ?? .upright
    }

    /// Whether the width of the stored image is the height of the upright image.
    var swapsSides: Bool { rawValue >= 5 }

    /// Returns the coordinates of a pixel in the stored image, given its coordinates in the upright image.
    ///
    /// - Parameters:
    ///   - x: The column of the pixel in the upright image.
    ///   - y: The row of the pixel in the upright image.
    ///   - width: The width of the upright image.
    ///   - height: The height of the upright image.
    func source(ofX x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
        switch self {
        case .upright: (x, y)
        case .mirrored: (width - 1 - x, y)
        case .upsideDown: (width - 1 - x, height - 1 - y)
        case .upsideDownMirrored: (x, height - 1 - y)
        case .transposed: (y, x)
        case .quarterRight: (y, width - 1 - x)
        case .transversed: (height - 1 - y, width - 1 - x)
        case .quarterLeft: (height - 1 - y, x)
        }
    }

    /// Returns the TIFF structure in the first Exif segment of a JPEG; nil if no Exif segment precedes the pixels.
    private static func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var position = 2
        while position + 4 <= bytes.count, bytes[position] == 0xFF {
            let marker = bytes[position + 1]
            let end = position + 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
            // The marker 0xDA (SOS) starts the pixels, so no Exif segment follows.
            guard marker != 0xDA, end >= position + 4, end <= bytes.count else { return nil }
            let content = bytes[position + 4..<end]
            if marker == 0xE1, content.starts(with: Array("Exif\0\0".utf8)) { return content.dropFirst(6) }
            position = end
        }
        return nil
    }

    /// Reads the tag `Orientation` (0x0112) from the first directory of a TIFF structure.
    private init?(exif: ArraySlice<UInt8>) {
        let tiff = TIFF(bytes: exif)
        guard tiff.value(at: 2, size: 2) == 42, let directory = tiff.value(at: 4, size: 4),
            let count = tiff.value(at: directory, size: 2)
        else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = tiff.value(at: entry, size: 2) else { return nil }
            guard tag == 0x0112 else { continue }
            guard tiff.value(at: entry + 2, size: 2) == 3, tiff.value(at: entry + 4, size: 4) == 1,
                let value = tiff.value(at: entry + 8, size: 2)
            else { return nil }
            self.init(rawValue: value)
            return
        }
        return nil
    }
}

/// A reader of the unsigned integers in a TIFF structure, which states its byte order in its first byte.
private struct TIFF {
    let bytes: ArraySlice<UInt8>

    /// Reads the integer of `size` bytes at an offset; nil if it exceeds the structure.
    func value(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let start = bytes.startIndex + offset
        let digits = bytes[start..<start + size]
        let isLittleEndian = bytes.first == UInt8(ascii: "I")
        return (isLittleEndian ? Array(digits.reversed()) : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
    }
}
