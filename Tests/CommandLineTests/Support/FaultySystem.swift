#if os(Linux)
    import Foundation
    import TestSupport

    /// A system whose files cannot be written for a while, for a program of a test.
    ///
    /// A preloaded library replaces functions of the system. So a test needs no disk of its own.
    struct FaultySystem: Sendable {
        /// A function that fails.
        enum Fault: String, Sendable {
            case synchronizeFile = "fsync"
            case synchronizeFolder = "fsync-folder"
            case lock = "flock"
            case rename
        }

        private let folder: TemporaryDirectory
        private let library: String

        /// The environment for a program that runs on the system.
        var environment: [String: String] { ["LD_PRELOAD": library, "FAULTS": folder.url.path] }

        private static let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <fcntl.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <sys/stat.h>
            #include <unistd.h>

            /* The file of a fault contains its errno and the number of calls that still succeed. */
            static int fails(const char *name, int *calls) {
                char path[4096];
                int error = 0, passed = 0;
                if (!getenv("FAULTS")) return 0;
                snprintf(path, sizeof path, "%s/%s", getenv("FAULTS"), name);
                FILE *file = fopen(path, "re");
                if (!file) return 0;
                if (fscanf(file, "%d %d", &error, &passed) != 2) error = 0;
                fclose(file);
                if (!error || (*calls)++ < passed) return 0;
                errno = error;
                return 1;
            }

            int fsync(int descriptor) {
                static int file_calls, folder_calls;
                int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
                struct stat facts;
                int is_folder = !fstat(descriptor, &facts) && S_ISDIR(facts.st_mode);
                int failed = is_folder ? fails("fsync-folder", &folder_calls) : fails("fsync", &file_calls);
                return failed ? -1 : next(descriptor);
            }

            int flock(int descriptor, int operation) {
                static int calls;
                int (*next)(int, int) = dlsym(RTLD_NEXT, "flock");
                return fails("flock", &calls) ? -1 : next(descriptor, operation);
            }

            int rename(const char *from, const char *to) {
                static int calls;
                int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
                return fails("rename", &calls) ? -1 : next(from, to);
            }
            """

        init(in parent: TemporaryDirectory) async throws {
            folder = try parent.makeFolder("faults")
            library = try await PreloadedLibrary.build(Self.source, in: parent)
        }

        /// Lets a function fail with an error from the call after a number of calls on.
        func fail(_ fault: Fault, with error: Int32, after calls: Int = 0) throws {
            try Data("\(error) \(calls)".utf8).write(to: folder.file(fault.rawValue))
        }

        /// Ends all faults.
        func mend() throws {
            for name in try folder.contents().keys { try FileManager.default.removeItem(at: folder.file(name)) }
        }
    }
#endif
