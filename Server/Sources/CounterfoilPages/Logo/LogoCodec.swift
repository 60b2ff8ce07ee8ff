import CounterfoilServer
import CounterfoilStore

/// The codec of logos: it decodes the pixels of an uploaded image and encodes them again.
///
/// Nothing but the pixels of the upload remains, so metadata and hidden data are removed. The image is scaled without
/// cropping. If it is not square, it gets transparent margins.
enum LogoCodec {
    /// Encodes a logo on the calling thread, which can take up to a second.
    static func logo(from upload: [UInt8]) throws(LogoRefusal) -> Logo {
        guard upload.count <= LogoEncoder.uploadLimit else { throw .tooLarge }
        let picture =
            switch Logo.Format(ofFile: upload) {
            case .png: try PNGImage.decode(upload)
            case .jpeg: try JPEGImage.decode(upload)
            case nil: throw LogoRefusal.notAnImage
            }
        let square = picture.fitted(intoSquareOf: LogoEncoder.side)
        if let png = PNGImage.encode(square), png.count <= Logo.byteLimit {
            return Logo(format: .png, bytes: png)
        }
        let opaque = square.onWhite()
        for quality in stride(from: 90, through: 2, by: -8) {
            guard let jpeg = JPEGImage.encode(opaque, quality: quality), jpeg.count <= Logo.byteLimit else {
                continue
            }
            return Logo(format: .jpeg, bytes: jpeg)
        }
        throw .damaged
    }

    /// Checks the dimensions in the header of an image, before memory is allocated for its pixels.
    static func checkSize(width: Int, height: Int) throws(LogoRefusal) {
        guard width > 0, height > 0 else { throw .damaged }
        guard width <= LogoEncoder.sideLimit, height <= LogoEncoder.sideLimit,
            width * height <= LogoEncoder.pixelLimit
        else { throw .tooManyPixels }
    }
}
