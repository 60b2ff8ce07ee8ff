package enum LogoRefusal: Error, Localized, Hashable {
    /// The file is larger than ``LogoEncoder/uploadLimit``.
    case tooLarge
    /// The content of the file is neither PNG nor JPEG; the name of the file does not count.
    case notAnImage
    /// The image exceeds ``LogoEncoder/sideLimit`` or ``LogoEncoder/pixelLimit``.
    case tooManyPixels
    /// The file begins like a PNG or JPEG but cannot be decoded.
    case damaged
    /// The image has a colour space for printing, CMYK or YCCK, which is not supported.
    case printColours
    /// Too many uploads are waiting to be encoded; `retryAfter` is the time in seconds after which to retry.
    case busy(retryAfter: Int)

    /// The error and its remedy, for the user who chose the file.
    package var text: LocalizedText {
        switch self {
        case .tooLarge: LocalizedText("logo.too-large", ["limit": .number(LogoEncoder.uploadLimit / 1024)])
        case .notAnImage: LocalizedText("logo.not-a-picture")
        case .tooManyPixels:
            LocalizedText(
                "logo.too-many-pixels",
                ["side": .number(LogoEncoder.sideLimit), "millions": .number(LogoEncoder.pixelLimit / 1_000_000)])
        case .damaged: LocalizedText("logo.damaged")
        case .printColours: LocalizedText("logo.print-colours")
        case .busy(let seconds): LocalizedText("logo.busy", ["count": .number(seconds)])
        }
    }
}
