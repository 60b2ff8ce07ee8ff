import ArgumentParser

/// The root command of the program `photo-library`, an example of an API that accepts access tokens.
@main
struct PhotoLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo-library",
        abstract: "An example API with photos of users, which accepts the access tokens of an authorization server.",
        discussion: """
            GET /photos lists your photos (scope photos.read); the first call adds two.
            GET /photos/ID returns one: 403 if another user owns it, 404 if none exists.
            POST /photos with {"title": "…"} adds one (scope photos.write).
            GET /statistics counts the photos of all users (scope photos.read); it is for services, which have no user.
            GET /healthz requires no token.

            The photos are stored in memory only. They are lost when the program ends.
            """,
        subcommands: [Serve.self]
    )
}
