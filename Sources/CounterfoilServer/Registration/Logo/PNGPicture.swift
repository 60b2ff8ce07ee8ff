import CPNG

/// The PNG codec, based on libpng.
enum PNGPicture {
    /// The bytes that every PNG begins with.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Decodes the pixels of a PNG.
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
                try LogoEncoder.checkSize(width: width, height: height)
                image.format = rgba
                // Samples of 16 bits are sRGB like those of 8 bits, unless the file says otherwise.
                image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
                var pixels = [UInt8](repeating: 0, count: width * height * 4)
                guard png_image_finish_read(&image, nil, &pixels, 0, nil) != 0 else { throw .damaged }
                return Raster(width: width, height: height, pixels: pixels)
            }
        }
        return try decoded.get()
    }

    /// Encodes pixels; nil if libpng has no memory.
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

    // Swift does not import PNG_FORMAT_RGBA, a macro of macros.
    private static let rgba = png_uint_32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)

    /// Keeps the chunks of a PNG that are needed for its pixels; texts, profiles and others never reach the
    /// decoder.
    ///
    /// A compressed text of a few kilobytes can expand to megabytes in the decoder's memory, and a file can
    /// contain hundreds.
    private static func onlyPixels(of bytes: [UInt8]) throws(LogoRefusal) -> [UInt8] {
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
                try LogoEncoder.checkSize(
                    width: sides.0.reduce(0) { $0 << 8 | Int($1) }, height: sides.1.reduce(0) { $0 << 8 | Int($1) })
            }
            switch type {
            case "IHDR", "PLTE", "tRNS", "gAMA", "sRGB", "IDAT":
                kept += bytes[position..<end]
            case "IEND":
                return kept + bytes[position..<end]
            default:
                // A capital first letter marks a critical chunk, without which the image cannot be decoded.
                guard bytes[position + 4] & 0x20 != 0 else { throw .damaged }
            }
            position = end
        }
        throw .damaged
    }
}
