import CPNG
import CounterfoilServer
import CounterfoilStore

/// The PNG codec, based on libpng.
enum PNGImage {
    /// Decodes a PNG after its text, colour profile and other optional chunks are removed.
    static func decode(_ bytes: [UInt8]) throws(LogoRefusal) -> Raster {
        let bare = try onlyPixels(of: bytes)
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        let decoded: Result<Raster, LogoRefusal> = bare.withUnsafeBytes { memory in
            Result { () throws(LogoRefusal) in
                guard png_image_begin_read_from_memory(&image, memory.baseAddress, memory.count) != 0 else {
                    throw .damaged
                }
                let (width, height) = (Int(image.width), Int(image.height))
                try LogoCodec.checkSize(width: width, height: height)
                image.format = rgba
                // Without this flag, libpng would treat 16-bit samples as linear instead of sRGB if the file does not
                // declare a colour space.
                image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
                var pixels = [UInt8](repeating: 0, count: width * height * 4)
                guard png_image_finish_read(&image, nil, &pixels, 0, nil) != 0 else { throw .damaged }
                return Raster(width: width, height: height, pixels: pixels)
            }
        }
        return try decoded.get()
    }

    /// Encodes pixels; nil if libpng fails, for example for lack of memory.
    static func encode(_ raster: Raster) -> [UInt8]? {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        image.width = png_uint_32(raster.width)
        image.height = png_uint_32(raster.height)
        defer { png_image_free(&image) }
        var pixels = raster.pixels
        image.format = rgba
        if raster.isOpaque {
            image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
            pixels = []
            for start in stride(from: 0, to: raster.pixels.count, by: 4) {
                pixels += raster.pixels[start..<start + 3]
            }
        }
        var size = png_alloc_size_t(pixels.count * 2 + 4096)
        var png = [UInt8](repeating: 0, count: Int(size))
        guard png_image_write_to_memory(&image, &png, &size, 0, pixels, 0, nil) != 0 else { return nil }
        return Array(png.prefix(Int(size)))
    }

    // PNG_FORMAT_RGBA of libpng: Swift does not import a macro that is composed of other macros.
    private static let rgba = png_uint_32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)

    /// Returns a PNG with only those chunks that are needed for its pixels.
    ///
    /// Texts, colour profiles and other chunks never reach the decoder. A compressed text of a few kilobytes can
    /// expand to megabytes in the memory of the decoder, and a file can contain hundreds of such texts.
    private static func onlyPixels(of bytes: [UInt8]) throws(LogoRefusal) -> [UInt8] {
        let signature = Logo.Format.png.signature
        var kept = signature
        kept.reserveCapacity(bytes.count)
        var position = signature.count
        while position + 12 <= bytes.count {
            let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - position - 12 else { throw .damaged }
            let end = position + 12 + length
            let type = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
            if position == signature.count {
                guard type == "IHDR", length == 13 else { throw .damaged }
                let sides = (bytes[position + 8..<position + 12], bytes[position + 12..<position + 16])
                try LogoCodec.checkSize(
                    width: sides.0.reduce(0) { $0 << 8 | Int($1) }, height: sides.1.reduce(0) { $0 << 8 | Int($1) })
            }
            switch type {
            case "IHDR", "PLTE", "tRNS", "gAMA", "sRGB", "IDAT":
                kept += bytes[position..<end]
            case "IEND":
                return kept + bytes[position..<end]
            default:
                // A chunk type with a capital first letter is critical: the image cannot be decoded without the chunk.
                guard bytes[position + 4] & 0x20 != 0 else { throw .damaged }
            }
            position = end
        }
        throw .damaged
    }
}
