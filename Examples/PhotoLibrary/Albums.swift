import CounterfoilResource
import Foundation

/// The photos of all users, in memory only.
actor Albums {
    /// The maximum number of photos of one user.
    static let photoLimit = 500

    private var albums: [VerifiedAccess.User: [Photo]] = [:]
    private var photos: [UUID: Photo] = [:]

    /// Returns the photos of a user, oldest first.
    ///
    /// The first call creates a starter album.
    func photos(of user: VerifiedAccess.User) -> [Photo] {
        if let album = albums[user] { return album }
        let starters = ["First snow on the ridge", "Harbour at dawn"].compactMap(Photo.Title.init)
        let album = starters.map { Photo(id: UUID(), owner: user, title: $0) }
        albums[user] = album
        for photo in album { photos[photo.id] = photo }
        return album
    }

    /// Returns a photo, regardless of its owner.
    func photo(_ id: UUID) -> Photo? { photos[id] }

    /// Adds a photo; returns nil if the album is full.
    func add(_ title: Photo.Title, of user: VerifiedAccess.User) -> Photo? {
        let album = photos(of: user)
        guard album.count < Self.photoLimit else { return nil }
        let photo = Photo(id: UUID(), owner: user, title: title)
        albums[user] = album + [photo]
        photos[photo.id] = photo
        return photo
    }
}
