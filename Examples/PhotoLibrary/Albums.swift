import CounterfoilResource
import Foundation

/// The photos of everybody, in memory: they are gone when the program ends.
actor Albums {
    /// The most photos of one person.
    static let photoLimit = 500

    private var albums: [VerifiedAccess.Person: [Photo]] = [:]
    private var photos: [UUID: Photo] = [:]

    /// The photos of a person, oldest first; the first visit finds a starter album.
    func photos(of person: VerifiedAccess.Person) -> [Photo] {
        if let album = albums[person] { return album }
        let starters = ["First snow on the ridge", "Harbour at dawn"].compactMap(Photo.Title.init)
        let album = starters.map { Photo(id: UUID(), owner: person, title: $0) }
        albums[person] = album
        for photo in album { photos[photo.id] = photo }
        return album
    }

    /// A photo, whoever owns it.
    func photo(_ id: UUID) -> Photo? { photos[id] }

    /// Adds a photo, or answers nil when the album is full.
    func add(_ title: Photo.Title, of person: VerifiedAccess.Person) -> Photo? {
        let album = photos(of: person)
        guard album.count < Self.photoLimit else { return nil }
        let photo = Photo(id: UUID(), owner: person, title: title)
        albums[person] = album + [photo]
        photos[photo.id] = photo
        return photo
    }
}
