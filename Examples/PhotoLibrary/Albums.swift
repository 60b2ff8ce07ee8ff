import CounterfoilResource
import Foundation

/// The photos of all users, in memory only.
actor Albums {
    /// The maximum number of photos of one user.
    static let photoLimit = 500

    private var albums: [VerifiedAccess.Person: [Photo]] = [:]
    private var photos: [UUID: Photo] = [:]

    /// Returns the photos of a user, oldest first.
    ///
    /// The first call creates a starter album.
    func photos(of person: VerifiedAccess.Person) -> [Photo] {
        if let album = albums[person] { return album }
        let starters = ["First snow on the ridge", "Harbour at dawn"].compactMap(Photo.Title.init)
        let album = starters.map { Photo(id: UUID(), owner: person, title: $0) }
        albums[person] = album
        for photo in album { photos[photo.id] = photo }
        return album
    }

    /// Returns a photo, regardless of its owner.
    func photo(_ id: UUID) -> Photo? { photos[id] }

    /// Adds a photo; returns nil if the album is full.
    func add(_ title: Photo.Title, of person: VerifiedAccess.Person) -> Photo? {
        let album = photos(of: person)
        guard album.count < Self.photoLimit else { return nil }
        let photo = Photo(id: UUID(), owner: person, title: title)
        albums[person] = album + [photo]
        photos[photo.id] = photo
        return photo
    }
}
