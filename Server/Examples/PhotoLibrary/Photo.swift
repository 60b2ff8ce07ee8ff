import CounterfoilResource
import Foundation
import Hummingbird

/// The metadata of a photo.
///
/// This example stores no image data.
struct Photo: Sendable, Hashable {
    let id: UUID
    let owner: VerifiedAccess.User
    let title: Title

    /// A title of 1 to 200 characters without control characters, at most 2000 bytes.
    struct Title: Sendable, Hashable {
        let text: String

        init?(_ text: String) {
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard (1...200).contains(text.count), text.utf8.count <= 2000,
                !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else { return nil }
            self.text = text
        }
    }
}

/// The JSON representation of a photo.
struct PhotoAnswer: ResponseEncodable {
    let id: String
    let title: String

    init(_ photo: Photo) {
        id = photo.id.uuidString.lowercased()
        title = photo.title.text
    }
}

/// The JSON representation of a list of photos.
struct AlbumAnswer: ResponseEncodable {
    let photos: [PhotoAnswer]
}

/// The JSON representation of the numbers about all users.
struct StatisticsAnswer: ResponseEncodable {
    let photos: Int
}

/// The body of `POST /photos`.
struct PhotoDraft: Decodable {
    let title: String
}
