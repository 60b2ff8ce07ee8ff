/// The orientation of a camera: the Exif tag `Orientation`, 1 to 8.
enum Orientation: Int {
    case upright = 1
    case mirrored = 2
    case upsideDown = 3
    case upsideDownMirrored = 4
    case transposed = 5
    case quarterRight = 6
    case transversed = 7
    case quarterLeft = 8

    /// Reads the orientation from the Exif segment of a JPEG; upright if there is none or it cannot be read.
    init(ofJPEG bytes: [UInt8]) {
        self = Self.exif(in: bytes).flatMap(Self.init(exif:)) ?? .upright
    }

    /// Whether width and height are swapped.
    var swapsSides: Bool { rawValue >= 5 }

    /// Maps a pixel of the upright image, which has this width and height, to its place in the stored image.
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

    /// Finds the TIFF structure of the first Exif segment before the pixels.
    private static func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var position = 2
        while position + 4 <= bytes.count, bytes[position] == 0xFF {
            let marker = bytes[position + 1]
            let end = position + 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
            // SOS: the pixels start here.
            guard marker != 0xDA, end >= position + 4, end <= bytes.count else { return nil }
            let content = bytes[position + 4..<end]
            if marker == 0xE1, content.starts(with: Array("Exif\0\0".utf8)) { return content.dropFirst(6) }
            position = end
        }
        return nil
    }

    /// Reads the tag 0x0112 of the first directory.
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

/// A reader of unsigned integers in either byte order.
private struct TIFF {
    let bytes: ArraySlice<UInt8>

    /// Reads the integer of `size` bytes at an offset; nil beyond the end.
    func value(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        let start = bytes.startIndex + offset
        let digits = bytes[start..<start + size]
        let isLittleEndian = bytes.first == UInt8(ascii: "I")
        return (isLittleEndian ? Array(digits.reversed()) : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
    }
}
