@_spi(Counterfoil) import CounterfoilProtocol

#if os(Linux)
    import CounterfoilPlatform

    /// The schemes for which this library has registered programs on a user's desktop.
    ///
    /// While a program waits for callbacks to a scheme, the scheme has a desktop entry, which is also its default
    /// application. A killed program leaves the entry behind; the next registration or handoff removes it.
    struct SchemeRegistry: Sendable {
        let folders: DesktopFolders

        /// Registers a program as the default handler of a scheme.
        func register(_ scheme: String, to handler: RedirectHandler, in sockets: SocketFolder) throws(FileFailure) {
            let lock = try DesktopLock(folders.lock)
            defer { lock.release() }
            removeStaleEntries()
            var handler = handler
            // Some desktops split the `Exec` line at spaces and do not support quotation marks. Therefore use a
            // symbolic link whose path contains no special characters.
            if !Self.isPlain(handler.program) {
                let link = try sockets.link(handler.program, as: Self.linkName(of: scheme))
                handler = RedirectHandler(program: link, arguments: handler.arguments, name: handler.name)
            }
            let entry = DesktopEntry(scheme: scheme, handler: handler)
            try DesktopFile.makeFolder(folders.applications)
            try DesktopFile.replace("\(folders.applications)/\(entry.fileName)", with: Array(entry.text.utf8))
            try change { $0.put(entry.fileName, first: DesktopEntry.contentType(of: scheme)) }
        }

        /// Unregisters a scheme, unless another program waits for callbacks to it.
        func unregister(_ scheme: String) {
            guard let lock = try? DesktopLock(folders.lock) else { return }
            defer { lock.release() }
            if !isAwaited(scheme) { removeEntry(of: scheme) }
        }

        /// Unregisters every scheme that no waiting program uses.
        func unregisterStale() {
            guard let lock = try? DesktopLock(folders.lock) else { return }
            defer { lock.release() }
            removeStaleEntries()
        }

        private func removeStaleEntries() {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folders.applications)) ?? []
            for scheme in files.compactMap(DesktopEntry.scheme(ofFile:)) where !isAwaited(scheme) {
                removeEntry(of: scheme)
            }
        }

        private func removeEntry(of scheme: String) {
            let name = DesktopEntry.fileName(of: scheme)
            // Remove the default application first: a default without a desktop entry is worse than a desktop
            // entry that is not the default.
            try? change { $0.remove(name, as: DesktopEntry.contentType(of: scheme)) }
            unlink("\(folders.applications)/\(name)")
            for sockets in socketFolders { sockets.remove(Self.linkName(of: scheme)) }
        }

        private func change(_ edit: (inout MimeApplications) -> Void) throws(FileFailure) {
            let former = try DesktopFile.read(folders.choices)
            var choices = MimeApplications(former ?? [])
            edit(&choices)
            guard choices.bytes != former ?? [] else { return }
            try DesktopFile.makeFolder(String(folders.choices.dropLast("/mimeapps.list".count)))
            try DesktopFile.replace(folders.choices, with: choices.bytes)
            // If the file is now empty, this library created it for the removed line, so delete it. A symbolic
            // link was created by the user and stays.
            var facts = stat()
            if choices.bytes.isEmpty, lstat(folders.choices, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG {
                unlink(folders.choices)
            }
        }

        private func isAwaited(_ scheme: String) -> Bool { socketFolders.contains { $0.isAwaited(scheme) } }

        private var socketFolders: [SocketFolder] {
            folders.sockets.compactMap { try? SocketFolder($0, making: false) }
        }

        private static func linkName(of scheme: String) -> String { "\(scheme).program" }

        private static func isPlain(_ path: String) -> Bool {
            path.utf8.allSatisfy { $0.isLetterOrDigit || "/._-+".utf8.contains($0) }
        }
    }

    /// The lock for changes to the user's desktop files; a process holds it only during one change.
    struct DesktopLock {
        private let descriptor: Int32

        /// Acquires the lock; throws after five seconds, because the process that holds it is then probably suspended.
        init(_ path: String) throws(FileFailure) {
            try DesktopFile.makeFolder(path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" })
            descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw FileFailure(path) }
            for _ in 0..<500 {
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
                usleep(10_000)
            }
            close(descriptor)
            throw FileFailure(path, "another program holds its lock; try again later")
        }

        func release() { close(descriptor) }
    }
#endif
