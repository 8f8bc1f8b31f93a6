//===- Folder.cpp - The folder of the cache ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Folder.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::runtime::cache {

static constexpr std::string_view temporarySuffix = ".tmp";

void Descriptor::close() {
  if (fd >= 0) {
    ::close(fd);
  }
  fd = -1;
}

std::string errorText(int code) {
  return std::generic_category().message(code);
}

/// Why nothing may be read from or written to the folder that \p info is of;
/// empty when it may.
static std::string refusal(const struct stat &info) {
  if (S_ISLNK(info.st_mode)) {
    return "it is a symbolic link; name the folder that it leads to";
  }
  if (!S_ISDIR(info.st_mode)) {
    return "it is no folder";
  }
  if (info.st_uid != ::geteuid()) {
    return "user " + std::to_string(info.st_uid) + " owns it, and user " +
           std::to_string(::geteuid()) + " runs this";
  }
  if (info.st_mode & (S_IWGRP | S_IWOTH)) {
    return "others can write to it (chmod go-w lets it serve)";
  }
  return "";
}

/// Without "." and "..", and without a slash at the end, which would make the
/// system follow a symbolic link.
static std::string plainPath(const std::string &path) {
  std::error_code code;
  std::filesystem::path absolute = std::filesystem::absolute(path, code);
  std::string text = (code ? path : absolute.string());
  text = std::filesystem::path(text).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') {
    text.pop_back();
  }
  return text;
}

/// Makes \p path and its parents, for this user alone; the error is an errno.
static int makeFolders(const std::string &path) {
  for (size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1)) {
    std::string parent = path.substr(0, end);
    struct stat info;
    if (::stat(parent.c_str(), &info) != 0 &&
        ::mkdir(parent.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return errno;
    }
  }
  return ::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST ? 0 : errno;
}

Result<Folder> Folder::open(const std::string &path) {
  Folder folder;
  folder.folderPath = plainPath(path);
  const char *name = folder.folderPath.c_str();
  auto refuse = [&](const std::string &reason) {
    return Error{"the cache folder " + folder.folderPath +
                 " is refused: " + reason};
  };
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  folder.directory = Descriptor(::open(name, flags));
  if (!folder.directory && errno == ENOENT) {
    if (int code = makeFolders(folder.folderPath)) {
      folder.why = errorText(code);
      return folder;
    }
    folder.directory = Descriptor(::open(name, flags));
  }
  struct stat info;
  if (!folder.directory) {
    int code = errno;
    if (::lstat(name, &info) == 0) {
      if (std::string reason = refusal(info); !reason.empty()) {
        return refuse(reason);
      }
    }
    folder.why = errorText(code);
    return folder;
  }
  if (::fstat(folder.directory.get(), &info) != 0) {
    return refuse(errorText(errno));
  }
  if (std::string reason = refusal(info); !reason.empty()) {
    return refuse(reason);
  }
  return folder;
}

Descriptor Folder::openFile(const std::string &name, int flags) const {
  if (!directory) {
    errno = ENOENT;
    return {};
  }
  // Without O_NONBLOCK a pipe of that name would hold the reader for ever.
  return Descriptor(::openat(directory.get(), name.c_str(),
                             flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                             S_IRUSR | S_IWUSR));
}

std::vector<std::string> Folder::names(std::string_view suffix) const {
  std::vector<std::string> found;
  Descriptor again = openFile(".", O_RDONLY | O_DIRECTORY);
  DIR *stream = again ? ::fdopendir(again.get()) : nullptr;
  if (!stream) {
    return found;
  }
  again.release(); // the stream closes it
  while (const dirent *entry = ::readdir(stream)) {
    if (std::string_view(entry->d_name).ends_with(suffix)) {
      found.emplace_back(entry->d_name);
    }
  }
  ::closedir(stream);
  return found;
}

bool Folder::remove(const std::string &name) const {
  return ::unlinkat(directory.get(), name.c_str(), 0) == 0;
}

bool Folder::isNameOf(const std::string &name, const Descriptor &file) const {
  struct stat open, named;
  return ::fstat(file.get(), &open) == 0 &&
         ::fstatat(directory.get(), name.c_str(), &named,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

Status Folder::fill(const Descriptor &file, const std::string &temporary,
                    const std::string &name, std::string_view content) const {
  auto failed = [](const char *step) {
    int code = errno;
    return Error{std::string(step) + ": " + errorText(code)};
  };
  while (!content.empty()) {
    ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return failed("write");
    }
    content.remove_prefix(written);
  }
  if (::fsync(file.get()) != 0) {
    return failed("fsync");
  }
  if (::renameat(directory.get(), temporary.c_str(), directory.get(),
                 name.c_str()) != 0) {
    return failed("rename");
  }
  // The name is durable only with the folder. Without that the entry may be
  // gone after a loss of power, which a cache survives.
  ::fsync(directory.get());
  return {};
}

Status
Folder::replace(const std::string &name, std::string_view content,
                const std::function<std::string()> &temporaryName) const {
  // Names repeat only where a test has them repeat, or leftovers are in the
  // way.
  constexpr int attempts = 1000;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::string temporary = temporaryName();
    temporary += temporarySuffix;
    Descriptor file = openFile(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file && errno == EEXIST) {
      continue;
    }
    if (!file) {
      return Error{errorText(errno)};
    }
    // The lock tells sweepTemporaries() that the file is being written. Until
    // it is held the file counts as left over and may be gone.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      continue;
    }
    if (!isNameOf(temporary, file)) {
      continue;
    }
    Status filled = fill(file, temporary, name, content);
    if (!filled) {
      remove(temporary);
    }
    return filled;
  }
  return Error{"no free name for a temporary file"};
}

void Folder::sweepTemporaries() const {
  for (const std::string &name : names(temporarySuffix)) {
    Descriptor file = openFile(name, O_RDONLY);
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
        isNameOf(name, file)) {
      remove(name);
    }
  }
}

} // namespace tenon::runtime::cache
