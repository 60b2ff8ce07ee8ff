import ArgumentParser

/// The command `photo-library`.
@main
struct PhotoLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo-library",
        abstract:
            "An API whose photos belong to people, and which accepts the access tokens of an authorization server.",
        discussion: """
            GET /photos lists your photos (permission photos.read); on your first visit there are two.
            GET /photos/ID shows one: 403 when it belongs to somebody else, 404 when there is none.
            POST /photos with {"title": "…"} adds one (permission photos.write).
            GET /healthz answers without a token.

            The photos are kept in memory: they are gone when the program ends.
            """,
        subcommands: [Serve.self]
    )
}
