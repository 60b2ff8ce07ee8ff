/// Why an upload does not become a logo.
public enum LogoRefusal: Error, Hashable, Sendable {
    /// The file is larger than ``LogoEncoder/uploadLimit``.
    case tooLarge
    /// It is neither PNG nor JPEG, whatever its name says.
    case notAPicture
    /// Its sides or their product are beyond ``LogoEncoder/sideLimit`` and ``LogoEncoder/pixelLimit``.
    case tooManyPixels
    /// It begins like a picture and goes on like none.
    case damaged
    /// Its colours are those of print.
    case printColours
    /// Other pictures are waiting; `retryAfter` is in seconds.
    case busy(retryAfter: Int)

    /// What to do, for the person who chose the file.
    public var text: Text {
        switch self {
        case .tooLarge: Text(LogoPhrase.tooLarge, ["limit": .number(LogoEncoder.uploadLimit / 1024)])
        case .notAPicture: Text(LogoPhrase.notAPicture)
        case .tooManyPixels:
            Text(
                LogoPhrase.tooManyPixels,
                ["side": .number(LogoEncoder.sideLimit), "millions": .number(LogoEncoder.pixelLimit / 1_000_000)])
        case .damaged: Text(LogoPhrase.damaged)
        case .printColours: Text(LogoPhrase.printColours)
        case .busy(let seconds): Text(LogoPhrase.busy, ["count": .number(seconds)])
        }
    }
}

/// What is said of uploaded pictures.
enum LogoPhrase: String, Phrase {
    case tooLarge = "logo.too-large"
    case notAPicture = "logo.not-a-picture"
    case tooManyPixels = "logo.too-many-pixels"
    case damaged = "logo.damaged"
    case printColours = "logo.print-colours"
    case busy = "logo.busy"
}
