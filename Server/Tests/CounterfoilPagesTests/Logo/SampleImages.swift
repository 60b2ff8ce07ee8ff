import CPNG
import CTurboJPEG
import CounterfoilServer
import CounterfoilStore
import TestSupport
import Testing

/// Images that the libraries encode, and the pixels that they decode from a logo.
enum SampleImages {
    /// The motifs.
    enum Motif: CaseIterable {
        /// Two colours, left and right.
        case halves
        /// A smooth gradient.
        case gradient
        /// A pseudorandom colour at every pixel, the same in every run.
        case noise
    }

    /// Red, green, blue and alpha of each pixel.
    static func pixels(_ motif: Motif, width: Int, height: Int, alpha: UInt8 = 0xFF) -> [UInt8] {
        var random = SeededGenerator(seed: 7)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                switch motif {
                case .halves: pixels += x * 2 < width ? [200, 30, 40] : [20, 60, 220]
                case .gradient: pixels += [UInt8(x * 255 / width), UInt8(y * 255 / height), 128]
                case .noise: pixels += withUnsafeBytes(of: random.next()) { $0.prefix(3) }
                }
                pixels.append(alpha)
            }
        }
        return pixels
    }

    /// A PNG of 8 bits a sample with alpha.
    static func png(_ motif: Motif = .halves, width: Int, height: Int, alpha: UInt8 = 0xFF) throws -> [UInt8] {
        try png(
            pixels(motif, width: width, height: height, alpha: alpha), width: width, height: height,
            format: PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)
    }

    /// A PNG of grey.
    static func greyPNG(width: Int, height: Int) throws -> [UInt8] {
        try png([UInt8](repeating: 99, count: width * height), width: width, height: height, format: 0)
    }

    /// A PNG of 16 bits a sample.
    static func deepPNG(width: Int, height: Int) throws -> [UInt8] {
        try png(
            [UInt16](repeating: 0x8000, count: width * height * 3), width: width, height: height,
            format: PNG_FORMAT_FLAG_LINEAR | PNG_FORMAT_FLAG_COLOR)
    }

    /// A PNG with a palette, one of whose colours is half transparent.
    static func palettePNG(width: Int, height: Int) throws -> [UInt8] {
        try png(
            (0..<width * height).map { UInt8($0 % 2) }, width: width, height: height,
            format: PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLORMAP,
            palette: [200, 0, 0, 255, 0, 0, 200, 128])
    }

    private static func png<Sample: BitwiseCopyable>(
        _ samples: [Sample], width: Int, height: Int, format: UInt32, palette: [UInt8]? = nil
    ) throws -> [UInt8] {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        image.width = png_uint_32(width)
        image.height = png_uint_32(height)
        image.format = png_uint_32(format)
        image.colormap_entries = png_uint_32((palette?.count ?? 0) / 4)
        defer { png_image_free(&image) }
        var size = png_alloc_size_t(width * height * 16 + 4096)
        var file = [UInt8](repeating: 0, count: Int(size))
        try #require(png_image_write_to_memory(&image, &file, &size, 0, samples, 0, palette) != 0)
        return Array(file.prefix(Int(size)))
    }

    /// A JPEG.
    static func jpeg(
        _ motif: Motif = .halves, width: Int, height: Int, subsampling: TJSAMP = TJSAMP_420, progressive: Bool = false
    ) throws -> [UInt8] {
        try jpeg(
            pixels(motif, width: width, height: height), width: width, height: height, format: TJPF_RGBX,
            subsampling: subsampling, progressive: progressive)
    }

    /// A JPEG in CMYK.
    static func printJPEG(width: Int, height: Int) throws -> [UInt8] {
        try jpeg(
            pixels(.gradient, width: width, height: height), width: width, height: height, format: TJPF_CMYK,
            subsampling: TJSAMP_444, progressive: false)
    }

    private static func jpeg(
        _ pixels: [UInt8], width: Int, height: Int, format: TJPF, subsampling: TJSAMP, progressive: Bool
    ) throws -> [UInt8] {
        let encoder = try #require(tjInitCompress())
        defer { tjDestroy(encoder) }
        var file: UnsafeMutablePointer<UInt8>?
        var size = CUnsignedLong(0)
        defer { tjFree(file) }
        let code = tjCompress2(
            encoder, pixels, CInt(width), 0, CInt(height), CInt(format.rawValue), &file, &size,
            CInt(subsampling.rawValue), 95, progressive ? TJFLAG_PROGRESSIVE : 0)
        try #require(code == 0)
        return Array(UnsafeBufferPointer(start: file, count: Int(size)))
    }

    /// The pixels that a browser would show for a logo.
    struct Seen {
        let width: Int
        let height: Int
        private let pixels: [UInt8]

        /// Decodes a logo by its format.
        init(_ logo: Logo) throws {
            switch logo.format {
            case .png:
                var image = png_image()
                image.version = png_uint_32(PNG_IMAGE_VERSION)
                defer { png_image_free(&image) }
                try #require(png_image_begin_read_from_memory(&image, logo.bytes, logo.bytes.count) != 0)
                image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)
                (width, height) = (Int(image.width), Int(image.height))
                var pixels = [UInt8](repeating: 0, count: width * height * 4)
                try #require(png_image_finish_read(&image, nil, &pixels, 0, nil) != 0)
                self.pixels = pixels
            case .jpeg:
                let decoder = try #require(tjInitDecompress())
                defer { tjDestroy(decoder) }
                var (width, height, other, another) = (CInt(0), CInt(0), CInt(0), CInt(0))
                let size = CUnsignedLong(logo.bytes.count)
                try #require(
                    tjDecompressHeader3(decoder, logo.bytes, size, &width, &height, &other, &another) == 0)
                var pixels = [UInt8](repeating: 0, count: Int(width * height) * 4)
                try #require(
                    tjDecompress2(
                        decoder, logo.bytes, size, &pixels, width, 0, height, CInt(TJPF_RGBA.rawValue),
                        TJFLAG_STOPONWARNING) == 0)
                (self.width, self.height) = (Int(width), Int(height))
                self.pixels = pixels
            }
        }

        /// Red, green, blue and alpha of a pixel.
        subscript(x: Int, y: Int) -> [UInt8] {
            let start = (y * width + x) * 4
            return Array(pixels[start..<start + 4])
        }
    }
}

/// Two colours look the same.
func isClose(_ colour: [UInt8], _ other: [UInt8], within distance: Int = 24) -> Bool {
    zip(colour, other).allSatisfy { abs(Int($0) - Int($1)) <= distance }
}
