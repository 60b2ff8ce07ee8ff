import CounterfoilResource
import Foundation
import Hummingbird

/// A photo without its picture, which this example leaves out.
struct Photo: Sendable, Hashable {
    let id: UUID
    let owner: VerifiedAccess.Person
    let title: Title

    /// A title of 1 to 200 characters, without control characters.
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

/// A photo as the API shows it.
struct PhotoAnswer: ResponseEncodable {
    let id: String
    let title: String

    init(_ photo: Photo) {
        id = photo.id.uuidString.lowercased()
        title = photo.title.text
    }
}

/// A list of photos as the API shows it.
struct AlbumAnswer: ResponseEncodable {
    let photos: [PhotoAnswer]
}

/// What `POST /photos` takes.
struct PhotoDraft: Decodable {
    let title: String
}
