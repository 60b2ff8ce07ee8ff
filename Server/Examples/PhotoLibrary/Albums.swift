import CounterfoilResource
import Foundation

/// The photos of all users, in memory only.
actor Albums {
    /// The maximum number of photos of one user.
    static let photoLimit = 500

    private var albums: [VerifiedAccess.User: [Photo]] = [:]
    private var photos: [UUID: Photo] = [:]

    /// The number of photos of all users.
    var count: Int { photos.count }

    /// Returns the photos of a user, oldest first.
    ///
    /// The first call for a user adds two sample photos.
    func photos(of user: VerifiedAccess.User) -> [Photo] {
        if let album = albums[user] { return album }
        let starters = ["First snow on the ridge", "Harbour at dawn"].compactMap(Photo.Title.init)
        let album = starters.map { Photo(id: UUID(), owner: user, title: $0) }
        albums[user] = album
        for photo in album { photos[photo.id] = photo }
        return album
    }

    /// Returns the photo with an identifier, of any owner; nil if it does not exist.
    func photo(_ id: UUID) -> Photo? { photos[id] }

    /// Adds a photo for a user; returns nil if the user already has ``photoLimit`` photos.
    func add(_ title: Photo.Title, of user: VerifiedAccess.User) -> Photo? {
        let album = photos(of: user)
        guard album.count < Self.photoLimit else { return nil }
        let photo = Photo(id: UUID(), owner: user, title: title)
        albums[user] = album + [photo]
        photos[photo.id] = photo
        return photo
    }
}
