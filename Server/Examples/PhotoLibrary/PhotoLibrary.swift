import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of the API, with the scopes they require.
struct PhotoLibrary: Sendable {
    typealias Context = BasicVerifiedAccessRequestContext

    let resourceServer: ResourceServer
    /// The origin of a single-page app that may call the API.
    var allowedOrigin: String?
    /// The scope that reads photos; nil for `photos.read`.
    var readScope: Scope?
    let albums = Albums()

    /// The header fields that a page may send; `DPoP` contains the proof for a token that is bound to a key.
    private static let requestHeaders = [.authorization, .contentType] + [HTTPField.Name("DPoP")].compactMap(\.self)

    func router() throws -> Router<Context> {
        let router = Router(context: Context.self)
        if resourceServer.metadata != nil {
            router.add(middleware: try ProtectedResourceMetadataMiddleware(resourceServer))
        }
        let readScope = try readScope ?? Scope(parsing: "photos.read")
        if let allowedOrigin {
            // Fetch §3.2: without these header fields, a browser hides the responses from pages of other origins.
            // The refusals and the middleware below name the fields that scripts can read.
            router.add(
                middleware: CORSMiddleware(
                    allowOrigin: .oneOf(allowedOrigin),
                    allowHeaders: Self.requestHeaders,
                    allowMethods: [.get, .post]))
        }
        router.get("healthz") { _, _ in "ok\n" }
        router.group("photos")
            .requireScope(readScope, of: resourceServer)
            .get(use: list)
            .get(":id", use: show)
        router.group("photos")
            .requireScope(try Scope(parsing: "photos.write"), of: resourceServer, checkingFormsUpTo: 4096)
            .post(use: create)
        router.group("statistics")
            .requireScope(readScope, of: resourceServer)
            .get(use: statistics)
        return router
    }

    @Sendable private func list(_ request: Request, context: Context) async throws -> AlbumAnswer {
        let photos = await albums.photos(of: try context.requireUser())
        return AlbumAnswer(photos: photos.map(PhotoAnswer.init))
    }

    /// Returns a photo of the user.
    ///
    /// A valid token alone does not grant access to the photos of other users.
    @Sendable private func show(_ request: Request, context: Context) async throws -> PhotoAnswer {
        let user = try context.requireUser()
        guard let id = context.parameters.get("id").flatMap(UUID.init(uuidString:)),
            let photo = await albums.photo(id)
        else { throw PhotoError.notFound }
        guard photo.owner == user else { throw AccessRefusal.forbidden("this photo belongs to another user") }
        return PhotoAnswer(photo)
    }

    @Sendable private func create(_ request: Request, context: Context) async throws -> EditedResponse<PhotoAnswer> {
        let user = try context.requireUser()
        let title = try await Self.title(in: request)
        guard let photo = await albums.add(title, of: user) else { throw PhotoError.albumIsFull }
        let answer = PhotoAnswer(photo)
        return EditedResponse(status: .created, headers: [.location: "/photos/\(answer.id)"], response: answer)
    }

    /// Returns the number of photos of all users, which is for services only.
    @Sendable private func statistics(_ request: Request, context: Context) async throws -> StatisticsAnswer {
        guard case .client = try context.requireAccess().party else {
            throw AccessRefusal.forbidden("this operation requires a token that was issued for a service")
        }
        return StatisticsAnswer(photos: await albums.count)
    }

    private static func title(in request: Request) async throws -> Photo.Title {
        let body: ByteBuffer
        do { body = try await request.body.collect(upTo: 4096) } catch is NIOTooManyBytesError {
            throw PhotoError.tooLarge
        }
        guard let draft = try? JSONDecoder().decode(PhotoDraft.self, from: Data(body.readableBytesView)),
            let title = Photo.Title(draft.title)
        else { throw PhotoError.badDraft }
        return title
    }
}
